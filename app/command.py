"""The command `turnout`: its arguments, and what its exit code says.

0: all is well. 1: a turn ended in `ERROR`, or something was found. 2: it cannot be done as it was asked for.
3: our fault. 130: it was interrupted.
"""

import logging
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from ..rules.errors import UsageError
from .calls import refused, reworded, told
from .streams import guarded

# The doors are imported where they are needed: `turnout --help` should not wait for models and engine.

RUN = 'turnout run samples/weather --say "Is it raining in Vienna?"'
CHAT = "turnout chat samples/weather"
MATCH = "turnout match samples/weather/weather.behavior.json --facts samples/outage.facts.json"
CHECK = "turnout check samples/weather"
FMT = "turnout fmt --check samples"
CONVERT = "turnout convert samples/weather/weather.behavior.json --to text --prove"
TEST = "turnout test samples --coverage"
SCHEMA = "turnout schema rules"
SERVE = "turnout serve samples/weather"
REPLAY = "turnout replay turnout.db --rules samples/weather.turnout"
"""An example of each command; all of them work in the project's folder."""
_WIDEST = 74


def _examples(*lines: str) -> str:
    # A line of its own with \b keeps click from filling the paragraph.
    return "\b\nExample:\n" + "\n".join(f"  {_wrapped(line)}" for line in lines)


def _wrapped(line: str) -> str:
    """A call on two lines where it is wider than a terminal."""
    return line if len(line) <= _WIDEST else line.replace(" --", " \\\n      --", 1)


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Why = Annotated[bool, typer.Option("--why", help="Say of each rule that did not fire what kept it.")]
AgentFolder = Annotated[Path, typer.Argument(help="The agent's folder or zip, or its text.")]
Context = Annotated[
    list[str] | None,
    typer.Option(
        help="Tell the agent this in every turn. An object, a list, true and false are read as JSON, "
        "anything else is a text.",
        metavar="KEY=VALUE",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Draw the same alternatives each time.", metavar="N")]
Fail = Annotated[list[str] | None, typer.Option(help="Make the steps of this task fail.", metavar="TASK[=MESSAGE]")]
Tasks = Annotated[list[Path] | None, typer.Option(help="Run this Python file for its tasks.", metavar="FILE")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, with the arguments of the process unless others are given; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # no text that was said may end in a traceback
    # What the operator is told stands in the results; logs are for programs that embed Turnout.
    logging.getLogger("turnout").addHandler(logging.NullHandler())
    if sys.stdout is None:
        return _unwritten("it is closed")
    with guarded(sys.stdout) as out:
        code = _called(sys.argv[1:] if arguments is None else list(arguments))
    return _unwritten(out.failure) if out.failure else code


def _unwritten(reason: str) -> int:
    if sys.stderr is not None:
        sys.stderr.write(f"error: standard output cannot be written: {reason}\n")
    return 2


def _called(arguments: Sequence[str]) -> int:
    try:
        code = app(args=arguments, prog_name="turnout", standalone_mode=False)
    except TyperException as error:
        if not arguments:
            typer.echo(error, err=True)  # the help
            return 2
        return refused(reworded(error), as_json="--json" in arguments)
    except typer.Abort:
        return 1
    except Exception as error:  # noqa: BLE001 - the boundary of the process: whatever comes is our fault
        if os.environ.get("TURNOUT_DEBUG") == "1":
            traceback.print_exc()
        hint = "set TURNOUT_DEBUG=1 to see where, and report it"
        sys.stderr.write(f"this is a fault in Turnout: {type(error).__name__}: {error}\n  help: {hint}\n")
        return 3
    return code if isinstance(code, int) else 0


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"turnout {version('turnout')}")
        raise typer.Exit


@app.callback(epilog=_examples(RUN, CHAT, MATCH, CHECK, TEST, FMT, CONVERT, SCHEMA, SERVE, REPLAY))
def turnout(
    *,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Conversations that answer for themselves when one of their tasks fails."""


@app.command(epilog=_examples(RUN))
@told
def run(
    agent: AgentFolder,
    *,
    say: Annotated[list[str] | None, typer.Option(help="Say this; each --say is a turn.", metavar="TEXT")] = None,
    start: Annotated[bool, typer.Option("--start", help="Begin with the opening turn.")] = False,
    context: Context = None,
    seed: Seed = None,
    why: Why = False,
    fail: Fail = None,
    tasks: Tasks = None,
    as_json: Json = False,
) -> int:
    """Say something to an agent, and print the turns.

    With --json, a turn is an object on a line of its own. Exits with 1 if a turn ended in ERROR.
    """
    from . import run as door  # noqa: PLC0415 - late: quick start

    return door.run(
        agent,
        say or (),
        start=start,
        context=context or (),
        seed=seed,
        why=why,
        fails=fail or (),
        tasks=tasks or (),
        as_json=as_json,
    )


@app.command(epilog=_examples(CHAT))
@told
def chat(
    agent: AgentFolder,
    *,
    context: Context = None,
    seed: Seed = None,
    fail: Fail = None,
    tasks: Tasks = None,
    as_json: Json = False,
) -> int:
    """Talk with an agent, line by line from standard input.

    It begins with the opening turn; /help lists the commands. With --json, a turn is an object on a line of its own.
    Exits with 1 if a turn ended in ERROR.
    """
    from . import chat as door  # noqa: PLC0415 - late: quick start

    return door.chat(agent, context=context or (), seed=seed, fails=fail or (), tasks=tasks or (), as_json=as_json)


@app.command(epilog=_examples(MATCH))
@told
def match(
    rules: Annotated[Path | None, typer.Argument(help="The rule set; with --batch, the one for all lines.")] = None,
    *,
    facts: Annotated[Path | None, typer.Option(help="The conversation, as facts.", metavar="FILE")] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            help="Answer each line of a file, - for standard input, with a line of JSON.", metavar="FILE.jsonl"
        ),
    ] = None,
    why: Why = False,
    as_json: Json = False,
) -> int:
    """Tell which rules fire for a conversation given as facts."""
    from . import match as door  # noqa: PLC0415 - late: quick start

    if batch is not None:
        if facts is not None or why:
            raise UsageError("`--batch` goes with neither `--facts` nor `--why`", "leave one of them out")
        return door.match_batch(batch, rules)
    if facts is not None and rules is None:
        raise UsageError(
            "the rule set is missing", "name it before `--facts`, as in `turnout match RULES --facts FILE`"
        )
    if rules is None or facts is None:
        raise UsageError("there is nothing to match", "name a rule set and `--facts FILE`, or `--batch FILE`")
    return door.match(rules, facts, why=why, as_json=as_json)


@app.command(epilog=_examples(CHECK))
@told
def check(
    paths: Annotated[list[Path], typer.Argument(help="Agents' folders and zips, and single files.")],
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too.")] = False,
    as_json: Json = False,
) -> int:
    """Tell what is wrong with agents and their files.

    Nothing is run. Exits with 2 if something does not load.
    """
    from . import check as door  # noqa: PLC0415 - late: quick start

    return door.check(paths, strict=strict, as_json=as_json)


@app.command(epilog=_examples(FMT))
@told
def fmt(
    paths: Annotated[list[Path], typer.Argument(help="Texts of rules, folders of them, or - for standard input.")],
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something would be.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Make curly quotes and odd blanks plain ones, too.")] = False,
    as_json: Json = False,
) -> int:
    """Lay texts of rules out in the one way there is.

    Comments and the order of things are kept. Exits with 2 if a text cannot be read.
    """
    from . import fmt as door  # noqa: PLC0415 - late: quick start

    return door.fmt(paths, check=check, fix=fix, as_json=as_json)


@app.command(epilog=_examples(CONVERT))
@told
def convert(
    file: Annotated[Path, typer.Argument(help="Rules or outputs, as JSON or as text, or a whole agent.")],
    *,
    to: Annotated[str, typer.Option(help="text or json.")],
    prove: Annotated[
        bool, typer.Option("--prove", help="Convert it back, too: is it equal, and which quirks were met?")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write to this file or folder, which is made.", metavar="PATH")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="With --out: write over files that are there.")] = False,
    as_json: Json = False,
) -> int:
    """Turn rules and outputs from JSON into text, or from text into JSON.

    A whole agent, in a folder or a zip and of any age, is written to a folder in today's form. With --prove, exits
    with 1 if the way back leads to something else.
    """
    from . import convert as door  # noqa: PLC0415 - late: quick start

    return door.convert(file, to=to, prove=prove, as_json=as_json, out=out, force=force)


@app.command("test", epilog=_examples(TEST))
@told
def run_checks(
    paths: Annotated[list[Path], typer.Argument(help="Texts, and folders with texts.")],
    *,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Tell which rules, conditions and outputs were not seen.")
    ] = False,
    fail_under: Annotated[
        float | None, typer.Option(min=0, max=100, help="Exit with 1 if less is covered.", metavar="PERCENT")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the results as JUnit XML, too.", metavar="FILE")] = None,
    as_json: Json = False,
) -> int:
    """Run the checks that stand beside the rules.

    No task does I/O: the checks say what fails and what is answered. Exits with 1 if a check fails.
    """
    from . import test as door  # noqa: PLC0415 - late: quick start

    return door.run_checks(paths, coverage=coverage, fail_under=fail_under, junit=junit, as_json=as_json)


@app.command(epilog=_examples(SCHEMA))
@told
def schema(
    kind: Annotated[str, typer.Argument(help="agent, workflow, rules, outputs, httpcalls, dictionary or facts.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="On one line.")] = False,
) -> int:
    """Print the JSON Schema of a kind of file, for editors."""
    from ..rules.schemas import schema  # noqa: PLC0415 - late: quick start
    from .printing import print_json  # noqa: PLC0415 - late: quick start

    print_json(schema(kind), indent=None if as_json else 2)
    return 0


@app.command(epilog=_examples(SERVE))
@told
def serve(
    agents: Annotated[list[Path], typer.Argument(help="The agents' folders, zips and texts.")],
    *,
    host: Annotated[str, typer.Option(help="Listen on this address of the machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Listen on this port; 0: any.")] = 8000,
    store: Annotated[
        str, typer.Option(help="Keep conversations in this file or database.", metavar="FILE|postgresql://…")
    ] = "turnout.db",
    tokens: Annotated[Path | None, typer.Option(help="Who may call: hashes of tokens.", metavar="FILE")] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes on the port.", metavar="N")] = 1,
    grace: Annotated[
        int, typer.Option(min=0, help="Let running turns end for so long at a shutdown.", metavar="SECONDS")
    ] = 10,
    tasks: Tasks = None,
    as_json: Json = False,  # noqa: ARG001 - for what is refused
) -> int:
    """Serve agents over HTTP, with a page to talk and to see why.

    An agent's address is the name of its folder or file. Without --tokens, it answers on this machine only.
    """
    from . import serve as door  # noqa: PLC0415 - late: quick start

    return door.serve(
        agents, host=host, port=port, store=store, tokens=tokens, workers=workers, grace=grace, tasks=tasks or ()
    )


@app.command(epilog=_examples(REPLAY))
@told
def replay(
    store: Annotated[str, typer.Argument(help="The SQLite file or the postgresql:// address of a service.")],
    *,
    rules: Annotated[Path, typer.Option(help="The changed rules: an agent's folder or zip, or a text.")],
    agent: Annotated[str | None, typer.Option(help="Look at this agent's conversations.", metavar="NAME")] = None,
    as_json: Json = False,
) -> int:
    """Tell which turns of recorded conversations other rules would change.

    Nothing is called: what tasks did is taken from the record.
    """
    from . import replay as door  # noqa: PLC0415 - late: quick start

    return door.replay(store, rules, agent=agent, as_json=as_json)
