"""`turnout convert` for whole agents: their files in today's form, written into a folder of their own."""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath

from ..grammar.program import READERS, agent_of_program, read_program
from ..grammar.quirks import quirks
from ..rules.agent_files import AgentFiles
from ..rules.agents import AgentDefinition, RulesSettings
from ..rules.bundles import FolderBundle, is_folder, is_plain
from ..rules.errors import Problem, UsageError
from ..rules.folders import bundle_at, read_bundle
from ..rules.outputs import OutputSet
from ..rules.zips import is_zip
from .files import read_file, write_folder
from .printing import plain, print_json, print_problems, printer, problem_data
from .remaking import Remade, remade, remade_text


def convert_agent(path: Path, *, to: str, prove: bool, as_json: bool, out: Path | None, force: bool) -> int:
    """Write the agent at `path`, a folder, a zip or a text, into the folder `out` in today's form.

    With `to` `text` its rules and outputs become texts, else all files are JSON. Files that are there already are
    written over only with `force`, those of the agent itself never. Prints which files were written, and which were
    left out. 0, or 1 where `prove` finds that what was written is read as something else. Raises `LoadError`, and
    `UsageError` for what cannot be written so.
    """
    if out is None:
        raise UsageError("a whole agent is several files", "name a folder for them with `--out`")
    agent, made = _made(path, to)
    _refuse(out, path, made.files.keys(), force=force)
    write_folder(out, made.files)
    written = [(out / file).as_posix() for file in made.files]
    found = list(dict.fromkeys(quirk for step in agent.steps for quirk in _quirks(step.settings)))
    problems = [note for note in agent.notes if note.code != "A007"]  # these files are told as left out
    if as_json:
        proof = {"equal": made.equal, "quirks": found} if prove else {}
        dropped = [*made.unneeded, *(f"{file}: {kind}" for file, kinds in made.lost.items() for kind in kinds)]
        print_json({"files": written, **proof, "dropped": dropped, "problems": list(map(problem_data, problems))})
    else:
        _tell(made, out, problems, found if prove else None)
    return int(prove and not made.equal)


def _made(path: Path, to: str) -> tuple[AgentDefinition, Remade]:
    if path.suffix == ".turnout" and not is_folder(path):
        program = read_program(read_file(path), path.as_posix())
        agent = agent_of_program(program, path)
        return agent, remade_text(path, program, agent)
    bundle = bundle_at(path)
    agent = read_bundle(bundle, READERS)
    return agent, remade(bundle, agent, to=to)


def _refuse(out: Path, source: Path, files: Collection[PurePosixPath], *, force: bool) -> None:
    """Raise `UsageError` if something would be lost, or if the agent would not be alone in its folder."""
    place = out.as_posix()
    if is_zip(out) or (os.path.lexists(out) and not is_folder(out)):
        raise UsageError(f"`{place}` is no folder, and an agent is written into one", "name a folder with `--out`")
    origin = Path(os.path.realpath(source))
    if any(origin in (target := Path(os.path.realpath(out / file)), *target.parents) for file in files):
        raise UsageError(f"`{place}` is where the agent itself is read from", "name another folder with `--out`")
    if not is_folder(out):
        return
    documents = AgentFiles(FolderBundle(out), READERS).documents()
    if other := next((file for file in documents if file not in files), None):
        message = f"`{place}` holds `{other}`, which is no part of what is written"
        raise UsageError(message, "name an empty folder with `--out`")
    for file in files:
        if odd := next((part for part in (file, *file.parents) if _is_odd(out / part, part == file)), None):
            raise UsageError(f"`{(out / odd).as_posix()}` is in the way", "name an empty folder with `--out`")
        if os.path.lexists(out / file) and not force:
            taken = (out / file).as_posix()
            raise UsageError(f"`{taken}` exists already", "name another folder, or add `--force`")


def _is_odd(place: Path, wants_file: bool) -> bool:
    """Whether something is there that is no plain file, or else no plain folder."""
    there = os.path.lexists(place)
    return there and (place.is_symlink() or not (is_plain(place) if wants_file else is_folder(place)))


def _quirks(settings: object) -> Sequence[str]:
    match settings:
        case RulesSettings():
            return quirks(settings.rule_set)
        case OutputSet():
            return quirks(settings)
    return ()


WHY_DROPPED = {
    "policy": "it belongs in an agent's file",
    "steps": "they belong in a workflow's file",
    "check": "only texts have checks",
    "comments": "no rule or output carries them",
    "rules": "no step asks for them",
    "outputs": "no step asks for them",
}
"""Why something in a text becomes nothing, by the kind of item."""


def tell_proof(equal: bool, found: Iterable[str]) -> None:
    """Say whether the way back leads to the same, and which quirks were met on the way."""
    for line in (f"there and back: {'equal' if equal else 'NOT equal'}", *(f"quirk: {one}" for one in found)):
        printer(talk=True).print(plain(line), soft_wrap=True)


def _tell(made: Remade, out: Path, problems: Iterable[Problem], found: Sequence[str] | None) -> None:
    print_problems(problems)
    lines = [f"wrote {len(made.files)} files to {out.as_posix()}"]
    if made.unneeded:
        lines.append(f"left out, for no step needs them: {', '.join(made.unneeded)}")
    for file, kinds in made.lost.items():
        lines.append(f"left out of {file}: {', '.join(f'{kind} ({WHY_DROPPED[kind]})' for kind in kinds)}")
    for line in lines:
        printer(talk=True).print(plain(line), soft_wrap=True)
    if found is not None:
        tell_proof(made.equal, found)
