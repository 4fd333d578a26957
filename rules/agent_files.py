"""The files of an agent's folder, by kind and by the addresses that stand in its documents."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from .agents import AgentFile, WorkflowFile
from .authored import Authored
from .calls import HttpCallsFile
from .dictionaries import Dictionary
from .errors import Problem, cause
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
"""What a file holds, by the part of its name before `.json`."""

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
    """The plain files of a folder, or of these `names` only, as paths relative to it. Links are not followed.

    `problems` tells what cannot be looked into.
    """

    def __init__(self, root: Path, endings: Iterable[str], names: Iterable[str] | None = None) -> None:
        self.problems: list[Problem] = []
        self._root = root
        self._endings = (".json", *endings)
        self._links: set[PurePosixPath] = set()
        self._files = tuple(sorted(self._walked()) if names is None else self._named(names))

    def _named(self, names: Iterable[str]) -> Iterator[PurePosixPath]:
        for file in map(PurePosixPath, filter(is_inside, names)):
            if any((self._root / part).is_symlink() for part in (file, *file.parents) if part.name):
                self._links.add(file)
            elif (self._root / file).is_file():
                yield file

    def documents(self) -> list[PurePosixPath]:
        """The documents that may belong to an agent's turns."""
        return [file for file in self._files if file.suffix in self._endings and suffix(file) not in _NOT_READ]

    def named(self, address: str, folder: PurePosixPath) -> list[PurePosixPath]:
        """The files that an address in a document of `folder` can mean.

        An address is a file name, or ends in the id that file names begin with and may name a version. Files
        in `folder` go before others, and those in a folder of the version's name before the rest.
        """
        _, found, rest = address.partition("://")
        if not found:
            places = (folder / address, PurePosixPath(address))
            return [file for file in dict.fromkeys(places) if file in self._files][:1]
        path, _, query = rest.partition("?")
        wanted = path.rpartition("/")[2]
        files = [file for file in self.documents() if file.name.partition(".")[0] == wanted]
        near = [file for file in files if file.parent == folder] or files
        version = query.removeprefix("version=")
        return [file for file in near if file.parent.name == version] or near

    def is_link(self, address: str, folder: PurePosixPath) -> bool:
        """Whether a file name in a document of `folder` is that of a link, which is not followed."""
        return folder / address in self._links or PurePosixPath(address) in self._links

    def _walked(self) -> Iterator[PurePosixPath]:
        for place, inner, names in os.walk(self._root, onerror=self._refused):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            here = PurePosixPath(Path(place).relative_to(self._root).as_posix())
            for name in names:
                file = Path(place) / name
                if file.is_symlink():
                    self._links.add(here / name)
                elif file.is_file() and not name.startswith("."):
                    yield here / name

    def _refused(self, error: OSError) -> None:
        place = Path(error.filename or self._root).as_posix()
        self.problems.append(Problem(code="A001", message=reason("folder", error), file=place))


def suffix(file: PurePosixPath) -> str:
    """`behavior` of `weather.behavior.json`; empty for a file that is not JSON or has no such part."""
    stem, _, last = file.name.rpartition(".")
    return stem.rpartition(".")[2].lower() if last.lower() == "json" and stem else ""


def article(model: type[Authored]) -> str:
    """`a rule set`, `an agent`."""
    word = WORDS[model]
    return f"{'an' if word[0] in 'ao' else 'a'} {word}"


def is_inside(address: str) -> bool:
    """Whether a file name stays in the folder it is read from."""
    path = PurePosixPath(address.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in address and "\0" not in address


def reason(what: str, error: OSError) -> str:
    """Why a file or folder cannot be read, in words."""
    if isinstance(error, FileNotFoundError):
        return f"there is no such {what}"
    if isinstance(error, NotADirectoryError):
        return "this is not a folder"
    if isinstance(error, PermissionError):
        return f"the {what} may not be read"
    return f"the {what} cannot be read: {cause(error)}"
