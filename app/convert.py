"""`turnout convert`: rules and outputs from JSON to text, and from text to JSON; `convert_agents` has whole agents."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..grammar.program import normal, read_program, to_json, write_program
from ..grammar.quirks import quirks
from ..rules.agent_files import KINDS, suffix
from ..rules.bundles import is_folder
from ..rules.errors import Problem, UsageError
from ..rules.findings import listed
from ..rules.outputs import OutputSet
from ..rules.parsing import parse_json
from ..rules.reading import read_output_set, read_rule_set
from ..rules.rulesets import RuleSet
from ..rules.shapes import shape_of
from ..rules.zips import is_zip
from .convert_agents import WHY_DROPPED, convert_agent, tell_proof
from .files import is_same, json_bytes, read_file, write_files, write_folder
from .printing import print_json, print_problems, printer, problem_data

FORMS = ("text", "json")
_ENDINGS = {"rules": "behavior.json", "outputs": "output.json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What a file became: a text, or documents by their kind; and whether the way back leads to the same."""

    form: str | Mapping[str, object]
    equal: bool
    quirks: Sequence[str]
    problems: Sequence[Problem]
    dropped: Sequence[str] = ()


def convert(file: Path, *, to: str, prove: bool, as_json: bool, out: Path | None = None, force: bool = False) -> int:
    """Print a file in the other form, or write it to `out`: a file, or a folder, which is made if need be.

    A whole agent, of whatever age, is written into the folder `out`: as a text with `policy` or `steps` is.
    A file that is there already is written over only with `force`. With `prove` it is also told whether the way back
    leads to the same, and which quirks were met on the way. 0, or 1 where the way back leads to something else. Raises
    `LoadError`, and `UsageError` for what has no other form and for a place that is taken.
    """
    if to not in FORMS:
        raise UsageError(f"there is no form `{to}`", f"name one of {listed(FORMS, 'or')}")
    if is_folder(file) or is_zip(file) or (to == "json" and out is not None and _is_folder(out) and _is_agent(file)):
        return convert_agent(file, to=to, prove=prove, as_json=as_json, out=out, force=force)
    if (file.suffix == ".turnout") == (to == "text"):
        raise UsageError(f"the file is {to} already", f"convert it to {'json' if to == 'text' else 'text'}")
    made = _as_text(file) if to == "text" else _as_json(file)
    if out is not None:
        _write(made, file, out, force=force)
    if as_json:
        form = {"text": made.form} if to == "text" else made.form
        proof = {"equal": made.equal, "quirks": list(made.quirks)} if prove else {}
        problems = [problem_data(problem) for problem in made.problems]
        print_json({**form, **proof, "dropped": list(made.dropped), "problems": problems})  # type: ignore[dict-item]  # printable
    else:
        if out is None:
            _print(made, prove=prove)
        _tell(made, prove=prove)
    return int(prove and not made.equal)


def _as_text(file: Path) -> Converted:
    source, name = read_file(file), file.as_posix()
    kind = KINDS.get(suffix(PurePosixPath(name))) or _kind(parse_json(source, name))
    if kind not in (RuleSet, OutputSet):
        hint = "name the agent's folder, to convert all of its files"
        raise UsageError(f"`{name}` holds neither rules nor outputs", hint)
    reading = read_rule_set(source, name) if kind is RuleSet else read_output_set(source, name)
    model = reading.model
    equal, text = _proved(model)
    return Converted(form=text, equal=equal, quirks=quirks(model), problems=reading.notes)


def _proved(model: RuleSet | OutputSet) -> tuple[bool, str]:
    """Whether a model comes back from its text as the same, its comments included; and that text."""
    if isinstance(model, RuleSet):
        text = write_program(model)
        rules = to_json(read_program(text)).rules
        back: RuleSet | OutputSet = RuleSet() if rules is None else read_rule_set(dict(rules)).model
    else:
        text = write_program(output_set=model)
        outputs = to_json(read_program(text)).outputs
        back = OutputSet() if outputs is None else read_output_set(dict(outputs)).model
    return normal(back) == normal(model), text


def _kind(data: object) -> type[RuleSet] | type[OutputSet]:
    keys = data.keys() if isinstance(data, dict) else set[str]()
    shape = shape_of(OutputSet)
    return OutputSet if keys & (shape.known | shape.aliases.keys()) else RuleSet


def _as_json(file: Path) -> Converted:
    program = read_program(read_file(file), file.as_posix())
    made = to_json(program)
    rules = RuleSet() if made.rules is None else read_rule_set(dict(made.rules)).model
    outputs = OutputSet() if made.outputs is None else read_output_set(dict(made.outputs)).model
    return Converted(
        form={key: form for key, form in (("rules", made.rules), ("outputs", made.outputs)) if form is not None},
        equal=all(_proved(model)[0] for model in (rules, outputs)),
        quirks=[*quirks(program.rule_set), *quirks(program.output_set)],
        problems=program.problems,
        dropped=made.dropped,
    )


def _write(made: Converted, file: Path, out: Path, *, force: bool) -> None:
    """Write what was made, all of it or nothing; a name without an ending is that of a folder."""
    stem = file.name.partition(".")[0]
    in_folder = _is_folder(out)
    if isinstance(made.form, str):
        forms = {f"{stem}.turnout": made.form.encode()}
    else:
        forms = {f"{stem}.{_ENDINGS[kind]}": json_bytes(document) for kind, document in made.form.items()}
    if len(forms) > 1 and not in_folder:
        raise UsageError("the text holds rules and outputs, which are two files", "name a folder with `--out`")
    files = {out / name if in_folder else out: data for name, data in forms.items()}
    if own := next((target for target in files if is_same(target, file)), None):
        raise UsageError(f"`{own.as_posix()}` is what is read", "name another file or folder with `--out`")
    taken = next((target for target in files if os.path.lexists(target)), None)
    if taken is not None and not force:
        raise UsageError(f"`{taken.as_posix()}` exists already", "name another file, or add `--force`")
    if in_folder:
        write_folder(out, {PurePosixPath(name): data for name, data in forms.items()})
    else:
        write_files(files)


def _is_folder(out: Path) -> bool:
    return is_folder(out) or not (out.suffix or os.path.lexists(out))


def _is_agent(text: Path) -> bool:
    """Whether a text says more of an agent than its rules and outputs."""
    return text.suffix == ".turnout" and read_program(read_file(text), text.as_posix()).has("policy", "steps")


def _print(made: Converted, *, prove: bool) -> None:
    if isinstance(made.form, str):
        sys.stdout.write(made.form)
        return
    if len(made.form) > 1:
        if prove:  # the proof alone can be told
            return
        hint = "name a folder with `--out`, or see both with `--json`"
        raise UsageError("the text holds rules and outputs, which are two files", hint)
    for document in made.form.values():
        print_json(document, indent=2)


def _tell(made: Converted, *, prove: bool) -> None:
    print_problems(made.problems)
    if made.dropped:
        told = ", ".join(f"{kind} ({WHY_DROPPED[kind]})" for kind in made.dropped)
        printer(talk=True).print(f"left out, for rules and outputs have no place for it: {told}", soft_wrap=True)
    if prove:
        tell_proof(made.equal, made.quirks)
