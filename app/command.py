"""The command `turnout`: its arguments, and what its exit code says.

0: all is well. 1: a turn ended in `ERROR`, or something was found. 2: it cannot be done as it was asked for.
3: our fault.
"""

import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from ..rules.errors import ClosedError, LoadError, Problem, UsageError

# The doors are imported where they are needed: `turnout --help` should not wait for models and engine.

RUN = 'turnout run samples/weather --say "Is it raining in Vienna?"'
MATCH = "turnout match samples/weather/weather.behavior.json --facts samples/outage.facts.json"
CHECK = "turnout check samples/weather"
SCHEMA = "turnout schema rules"
"""An example of each command; all of them work in the project's folder."""


def _examples(*lines: str) -> str:
    # A line of its own with \b keeps click from filling the paragraph.
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Why = Annotated[bool, typer.Option("--why", help="Say of each rule that did not fire what kept it.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, with the arguments of the process unless others are given; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # no text that was said may end in a traceback
    # What the operator is told stands in the results; logs are for programs that embed Turnout.
    logging.getLogger("turnout").addHandler(logging.NullHandler())
    try:
        app(args=None if arguments is None else list(arguments), prog_name="turnout")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:  # noqa: BLE001 - the boundary of the process: whatever comes is our fault
        if os.environ.get("TURNOUT_DEBUG") == "1":
            traceback.print_exc()
        hint = "set TURNOUT_DEBUG=1 to see where, and report it"
        sys.stderr.write(f"this is a fault in Turnout: {type(error).__name__}: {error}\n  help: {hint}\n")
        return 3
    return 0


def _finish(work: Callable[[], int], *, as_json: bool = False) -> NoReturn:
    """Do the work of a command and exit as it says, or with what it cannot do put into words."""
    try:
        code = work()
    except (LoadError, UsageError, ClosedError) as error:
        from .printing import print_json, print_problems, print_refusal, refusal_data  # noqa: PLC0415

        code = 2
        if as_json:
            print_json(refusal_data(*_refused(error)))
        elif isinstance(error, LoadError):
            print_problems(error.problems)
        else:
            print_refusal(*_words(error))
    raise typer.Exit(code)


def _refused(error: LoadError | UsageError | ClosedError) -> tuple[str, Sequence[Problem]]:
    if isinstance(error, LoadError):
        return "load", error.problems
    message, hint = _words(error)
    return "usage", [Problem(code="U001", message=message, hint=hint)]


def _words(error: Exception) -> tuple[str, str]:
    return (error.message, error.hint) if isinstance(error, UsageError) else (str(error), "")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"turnout {version('turnout')}")
        raise typer.Exit


@app.callback(epilog=_examples(RUN, MATCH, CHECK, SCHEMA))
def turnout(
    *,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Conversations that answer for themselves when one of their tasks fails."""


@app.command(epilog=_examples(RUN))
def run(
    agent: Annotated[Path, typer.Argument(help="The agent's folder.")],
    *,
    say: Annotated[list[str] | None, typer.Option(help="Say this; each --say is a turn.", metavar="TEXT")] = None,
    start: Annotated[bool, typer.Option("--start", help="Begin with the opening turn.")] = False,
    context: Annotated[
        list[str] | None,
        typer.Option(
            help="Tell the agent this in every turn. An object, a list, true and false are read as JSON, "
            "anything else is a text.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draw the same alternatives each time.", metavar="N")] = None,
    why: Why = False,
    fail: Annotated[
        list[str] | None, typer.Option(help="Make the steps of this task fail.", metavar="TASK[=MESSAGE]")
    ] = None,
    tasks: Annotated[
        list[Path] | None, typer.Option(help="Run this Python file for its tasks.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say something to an agent, and print the turns.

    With --json, a turn is an object on a line of its own. Exits with 1 if a turn ended in ERROR.
    """

    def work() -> int:
        from . import run as door  # noqa: PLC0415

        script = door.Script(
            agent=agent,
            says=say or (),
            start=start,
            context=context or (),
            seed=seed,
            why=why,
            fails=fail or (),
            tasks=tasks or (),
            as_json=as_json,
        )
        return door.run(script)

    _finish(work, as_json=as_json)


@app.command(epilog=_examples(MATCH))
def match(
    rules: Annotated[Path | None, typer.Argument(help="The rule set; with --batch, the one for all lines.")] = None,
    *,
    facts: Annotated[Path | None, typer.Option(help="The conversation, as facts.", metavar="FILE")] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            help="Answer each line of a file, - for standard input, with a line of JSON.",
            metavar="FILE.jsonl",
        ),
    ] = None,
    why: Why = False,
    as_json: Json = False,
) -> None:
    """Tell which rules fire for a conversation given as facts."""

    def work() -> int:
        from . import match as door  # noqa: PLC0415

        if batch is not None:
            if facts is not None or why:
                raise UsageError("`--batch` goes with neither `--facts` nor `--why`", "leave one of them out")
            return door.match_batch(batch, rules)
        if rules is None or facts is None:
            raise UsageError("there is nothing to match", "name a rule set and `--facts FILE`, or `--batch FILE`")
        return door.match(rules, facts, why=why, as_json=as_json)

    _finish(work, as_json=as_json)


@app.command(epilog=_examples(CHECK))
def check(
    paths: Annotated[list[Path], typer.Argument(help="Agents' folders and single files.")],
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too.")] = False,
    as_json: Json = False,
) -> None:
    """Tell what is wrong with agents and their files.

    Nothing is run. Exits with 2 if something does not load.
    """

    def work() -> int:
        from . import check as door  # noqa: PLC0415

        return door.check(paths, strict=strict, as_json=as_json)

    _finish(work, as_json=as_json)


@app.command(epilog=_examples(SCHEMA))
def schema(
    kind: Annotated[str, typer.Argument(help="agent, rules, outputs, httpcalls or facts.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="On one line.")] = False,
) -> None:
    """Print the JSON Schema of a kind of file, for editors."""

    def work() -> int:
        from . import schema as door  # noqa: PLC0415

        return door.print_schema(kind, one_line=as_json)

    _finish(work, as_json=as_json)
