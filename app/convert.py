"""`turnout convert`: rules and outputs from JSON to text, and from text to JSON."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..grammar.program import normal, read_program, to_json, write_program
from ..grammar.quirks import quirks
from ..rules.agent_files import KINDS, suffix
from ..rules.errors import Problem, UsageError
from ..rules.findings import listed
from ..rules.outputs import OutputSet
from ..rules.parsing import parse_json
from ..rules.reading import read_output_set, read_rule_set
from ..rules.rulesets import RuleSet
from ..rules.shapes import shape_of
from .files import read_file, write_file
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


def convert(file: Path, *, to: str, prove: bool, as_json: bool, out: Path | None = None) -> int:
    """Print a file in the other form, or write it to `out`, which may be a folder.

    With `prove` it is also told whether the way back leads to the same, and which quirks were met on the way.
    0, or 1 where the way back leads to something else. Raises `LoadError`, and `UsageError` for what has no other form.
    """
    if to not in FORMS:
        raise UsageError(f"there is no form `{to}`", f"name one of {listed(FORMS, 'or')}")
    if (file.suffix == ".turnout") == (to == "text"):
        raise UsageError(f"the file is {to} already", f"convert it to {'json' if to == 'text' else 'text'}")
    made = _as_text(file) if to == "text" else _as_json(file)
    if out is not None:
        _write(made, file, out)
    if as_json:
        form = {"text": made.form} if to == "text" else made.form
        proof = {"equal": made.equal, "quirks": list(made.quirks)} if prove else {}
        problems = [problem_data(problem) for problem in made.problems]
        print_json({**form, **proof, "dropped": list(made.dropped), "problems": problems})  # type: ignore[dict-item]
    else:
        if out is None:
            _print(made)
        _tell(made, prove=prove)
    return int(prove and not made.equal)


def _as_text(file: Path) -> Converted:
    source, name = read_file(file), file.as_posix()
    kind = KINDS.get(suffix(PurePosixPath(name))) or _kind(parse_json(source, name))
    if kind not in (RuleSet, OutputSet):
        raise UsageError(f"`{name}` holds neither rules nor outputs", "write `policy` and `steps` by hand")
    reading = read_rule_set(source, name) if kind is RuleSet else read_output_set(source, name)
    model = reading.model
    text = write_program(model) if isinstance(model, RuleSet) else write_program(output_set=model)
    program = read_program(text)
    back = program.rule_set if isinstance(model, RuleSet) else program.output_set
    return Converted(form=text, equal=normal(back) == normal(model), quirks=quirks(model), problems=reading.notes)


def _kind(data: object) -> type[RuleSet] | type[OutputSet]:
    keys = data.keys() if isinstance(data, dict) else set[str]()
    shape = shape_of(OutputSet)
    return OutputSet if keys & (shape.known | shape.aliases.keys()) else RuleSet


def _as_json(file: Path) -> Converted:
    program = read_program(read_file(file), file.as_posix())
    made = to_json(program)
    back = read_program(write_program(program.rule_set, program.output_set))
    equal = normal(back.rule_set) == normal(program.rule_set) and normal(back.output_set) == normal(program.output_set)
    return Converted(
        form={key: form for key, form in (("rules", made.rules), ("outputs", made.outputs)) if form is not None},
        equal=equal,
        quirks=[*quirks(program.rule_set), *quirks(program.output_set)],
        problems=program.problems,
        dropped=made.dropped,
    )


def _dumps(document: object) -> bytes:
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return text.encode(errors="backslashreplace")  # a lone surrogate has no other form


def _write(made: Converted, file: Path, out: Path) -> None:
    stem = file.name.partition(".")[0]
    if isinstance(made.form, str):
        target = out / f"{stem}.turnout" if out.is_dir() else out
        write_file(target, made.form.encode())
        return
    if len(made.form) > 1 and not out.is_dir():
        raise UsageError("the text holds rules and outputs, which are two files", "name a folder with `--out`")
    for kind, document in made.form.items():
        target = out / f"{stem}.{_ENDINGS[kind]}" if out.is_dir() else out
        write_file(target, _dumps(document))


def _print(made: Converted) -> None:
    if isinstance(made.form, str):
        sys.stdout.write(made.form)
    elif len(made.form) > 1:
        hint = "name a folder with `--out`, or see both with `--json`"
        raise UsageError("the text holds rules and outputs, which are two files", hint)
    for document in () if isinstance(made.form, str) else made.form.values():
        print_json(document, indent=2)


def _tell(made: Converted, *, prove: bool) -> None:
    print_problems(made.problems)
    talk = printer(talk=True)
    if made.dropped:
        talk.print(f"left out, for JSON has no place for it: {', '.join(made.dropped)}", soft_wrap=True)
    if prove:
        talk.print("there and back: equal" if made.equal else "there and back: NOT equal", soft_wrap=True)
        for quirk in made.quirks:
            talk.print(f"quirk: {quirk}", soft_wrap=True)
