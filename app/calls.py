"""What cannot be done as it was asked for, in plain words and with the exit code that says so."""

import re
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from typer.exceptions import TyperException

from ..rules.errors import ClosedError, LoadError, Problem, UsageError
from ..rules.spelling import suggestion

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

_Arguments = ParamSpec("_Arguments")

# What the library says, and what is said instead. Its classes are private, its texts are what it shows.
_WORDS = (
    (r"No such option: (\S+)", "there is no option `{}`"),
    (r"No such command '(.*?)'", "there is no command `{}`"),
    (r"Missing \w+ '(.*?)'", "`{}` is missing"),
    (r"Option '(.*)' requires an argument", "`{}` needs a value"),
    (r"Option '(.*)' does not take a value", "`{}` takes no value"),
    (r"Got unexpected extra argument\S* \((.*)\)", "there is no place for `{}`"),
    (r"Invalid value for '(.*?)': .*\binteger\b", "`{}` must be a whole number"),
    (r"Invalid value for '(.*?)'", "the value of `{}` cannot be read"),
)


def told(work: Callable[_Arguments, int]) -> Callable[_Arguments, int]:
    """The work of a command, with what it cannot do put into words; its exit code."""

    @wraps(work)
    def command(*args: _Arguments.args, **options: _Arguments.kwargs) -> int:
        try:
            return work(*args, **options)
        except (LoadError, UsageError, ClosedError) as error:
            return refused(error, as_json=bool(options["as_json"]))
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")
            return INTERRUPTED

    return command


def refused(error: LoadError | UsageError | ClosedError, *, as_json: bool) -> int:
    """Say what cannot be done; the exit code."""
    from .printing import print_json, print_problems, print_refusal, refusal_data  # noqa: PLC0415 - late: quick start

    if isinstance(error, LoadError):
        if as_json:
            print_json(refusal_data("load", error.problems))
        else:
            print_problems(error.problems)
        return 2
    if isinstance(error, UsageError):
        message, hint = error.message, error.hint
    else:
        message, hint = str(error), "say nothing more after the turn that ended it"
    if as_json:
        print_json(refusal_data("usage", [Problem(code="U001", message=message, hint=hint)]))
    else:
        print_refusal(message, hint)
    return 2


def reworded(error: TyperException) -> UsageError:
    """The library's exception as ours."""
    context = getattr(error, "ctx", None)
    said = str(getattr(error, "format_message", error.__str__)())
    hint = f"see `{getattr(context, 'command_path', 'turnout')} -h`"
    for pattern, words in _WORDS:
        if found := re.match(pattern, said, re.DOTALL):
            if words.startswith("there is no"):
                hint = suggestion(found[1], _known(context), hint)
            return UsageError(words.format(found[1]), hint)
    return UsageError(said[:1].lower() + said[1:].rstrip("."), hint)


def _known(context: object) -> list[str]:
    """The options and commands that the context knows."""
    command = getattr(context, "command", None)
    options = [name for option in getattr(command, "params", ()) for name in option.opts if name.startswith("-")]
    return [*options, *getattr(command, "commands", ())]
