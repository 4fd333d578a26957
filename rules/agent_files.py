"""The files of an agent, by kind and by the addresses that stand in its documents."""

from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TypeAlias

from .agents import AgentFile, WorkflowFile
from .authored import Authored
from .bundles import Bundle
from .calls import HttpCallsFile
from .dictionaries import Dictionary
from .errors import LoadError, Problem
from .findings import listed, shown
from .llm import LlmFile
from .outputs import OutputSet
from .properties import PropertySetter
from .rulesets import RuleSet

KINDS: Mapping[str, type[Authored]] = {
    "agent": AgentFile,
    "bot": AgentFile,
    "workflow": WorkflowFile,
    "package": WorkflowFile,
    "behavior": RuleSet,
    "rules": RuleSet,
    "output": OutputSet,
    "httpcalls": HttpCallsFile,
    "apicalls": HttpCallsFile,
    "regulardictionary": Dictionary,
    "dictionary": Dictionary,
    "property": PropertySetter,
    "langchain": LlmFile,
    "llm": LlmFile,
}
"""What a file holds, by the part of its name before `.json`; of several names of one kind the first is today's."""

ENDINGS: Mapping[type[Authored], str] = {model: kind for kind, model in reversed(list(KINDS.items()))}
"""Today's part of a file's name before `.json`, by what the file holds."""

Part: TypeAlias = RuleSet | OutputSet | HttpCallsFile | LlmFile | PropertySetter
PARTS: Mapping[str, type[Part]] = {
    "ai.labs.behavior": RuleSet,
    "ai.labs.output": OutputSet,
    "ai.labs.httpcalls": HttpCallsFile,
    "ai.labs.llm": LlmFile,
    "ai.labs.property": PropertySetter,
}
"""What the file of a step holds, by its task."""

WORDS: Mapping[type[Authored], str] = {
    AgentFile: "agent",
    WorkflowFile: "workflow",
    RuleSet: "rule set",
    OutputSet: "output set",
    HttpCallsFile: "set of calls",
    Dictionary: "dictionary",
    PropertySetter: "property setter",
    LlmFile: "set of models",
}
"""What a model is called in messages."""

NOT_YET = {
    "mcpcalls": "MCP calls",
    "rag": "knowledge bases",
}
"""Files of tasks that are not built in yet, by the part of their name before `.json`."""

_NOT_READ = ("descriptor", "snippet", "schedule")


class AgentFiles:
    """What a bundle holds, as paths in it; `endings` are those of documents that are no JSON.

    Raises `LoadError` where nothing can be looked into.
    """

    def __init__(self, bundle: Bundle, endings: Iterable[str] = ()) -> None:
        self.bundle = bundle
        self._endings = (".json", *endings)
        there = dict(bundle.entries())
        self._odd = {path: why for path, why in there.items() if why}
        self.files = tuple(sorted(there.keys() - self._odd.keys()))
        self._known = frozenset(self.files)

    def documents(self) -> list[PurePosixPath]:
        """The documents that may belong to an agent's turns."""
        return [file for file in self.files if self._is_document(file)]

    def _is_document(self, file: PurePosixPath) -> bool:
        return file.suffix.lower() in self._endings and suffix(file) not in _NOT_READ

    def place(self, file: PurePosixPath) -> str:
        """What problems call a file."""
        return (PurePosixPath(self.bundle.name) / file).as_posix()

    def named(self, address: str, folder: PurePosixPath) -> list[PurePosixPath]:
        """The files that an address in a document of `folder` can mean.

        An address is a file name, or ends in the id that file names begin with and may name a version. Files
        in `folder` go before others, and those in a folder of the version's name before the rest.
        """
        if "://" not in address:
            return [file for file in _places(address, folder) if file in self._known][:1]
        return _fitting(address, folder, self.documents())

    def fitting(self, address: str, folder: PurePosixPath, model: type[Authored]) -> list[PurePosixPath]:
        """Those of `named` that have the name of this model, else those that do not have the name of another."""
        named = self.named(address, folder)
        exact = [file for file in named if KINDS.get(suffix(file.with_suffix(".json"))) is model]
        return exact or [file for file in named if KINDS.get(suffix(file), model) is model]

    def odd(self, address: str, folder: PurePosixPath) -> str:
        """Why what an address in a document of `folder` names is no plain file; empty if there is no such thing."""
        if "://" in address:
            there: Iterable[PurePosixPath] = _fitting(address, folder, filter(self._is_document, self._odd))
        else:
            there = (path for path in _places(address, folder) if path in self._odd)
        return next((self._odd[path] for path in there), "")


def _places(address: str, folder: PurePosixPath) -> Iterable[PurePosixPath]:
    """Where a file can be that a document of `folder` names."""
    return dict.fromkeys((folder / address, PurePosixPath(address)))


def _fitting(address: str, folder: PurePosixPath, files: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Those of some files that an address with an id can mean."""
    wanted, version = _id_of(address)
    fitting = [file for file in files if file.name.partition(".")[0] == wanted]
    near = [file for file in fitting if file.parent == folder] or fitting
    return [file for file in near if file.parent.name == version] or near


def _id_of(address: str) -> tuple[str, str]:
    """The id that an address ends in, and its version; empty without one."""
    path, _, query = address.partition("://")[2].partition("?")
    return path.rpartition("/")[2], query.removeprefix("version=")


def other_version(address: str, file: PurePosixPath) -> str:
    """The version that the folder of a file is named by, where an address names another one; else empty."""
    wanted, version = _id_of(address)
    there = file.parent.name
    return there if version and there.isdecimal() and there != version and file.parent.parent.name == wanted else ""


def agent_file(bundle: Bundle) -> PurePosixPath:
    """The one agent file at the top of a bundle; raises `LoadError`."""
    near = takewhile(lambda entry: len(entry[0].parts) <= 2, bundle.entries())
    every = {path: odd for path, odd in near if KINDS.get(suffix(path)) is AgentFile}
    there = {path: odd for path, odd in every.items() if len(path.parts) == 1}
    found = [path for path, odd in there.items() if not odd]
    if len(found) == 1:
        return found[0]
    if found:
        several = listed([path.name for path in found])
        words = ("A003", f"the {bundle.word} holds several agents: {several}", f"give each a {bundle.word} of its own")
    elif there:
        path, odd = next(iter(there.items()))
        words = ("A015", f"{shown(path.name)} is {odd}", "put the agent's file itself there")
    elif every:
        lower = shown(str(next(iter(every))))
        message = f"the {bundle.word} holds no agent file at its top, but {lower}"
        words = ("A002", message, "name the folder of that file, or make a zip of it")
    else:
        words = ("A002", f"the {bundle.word} holds no agent file", "add one whose name ends in `.agent.json`")
    code, message, hint = words
    raise LoadError([*bundle.problems, Problem(code=code, message=message, file=bundle.name, hint=hint)])


def suffix(file: PurePosixPath) -> str:
    """`behavior` of `weather.behavior.json`; empty for a file that is not JSON or has no such part."""
    stem, _, last = file.name.rpartition(".")
    return stem.rpartition(".")[2].lower() if last.lower() == "json" and stem else ""


def article(model: type[Authored]) -> str:
    """`a rule set`, `an agent`."""
    word = WORDS[model]
    return f"{'an' if word[0] in 'ao' else 'a'} {word}"
