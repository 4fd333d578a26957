"""What is wrong with how a command was called, in plain words instead of the library's."""

import re

from typer.exceptions import TyperException

from ..rules.errors import UsageError
from ..rules.spelling import nearest

# What the library says, and what is said instead. Its classes are private, its texts are what it shows.
_WORDS = (
    (r"No such option: (\S+)", "there is no option `{}`"),
    (r"No such command '(.*?)'", "there is no command `{}`"),
    (r"Missing \w+ '(.*?)'", "`{}` is missing"),
    (r"Option '(.*)' requires an argument", "`{}` needs a value"),
    (r"Option '(.*)' does not take a value", "`{}` takes no value"),
    (r"Got unexpected extra argument\S* \((.*)\)", "there is no place for `{}`"),
    (r"Invalid value for '(.*?)': .*\binteger\b", "`{}` must be a whole number"),
    (r"Invalid value for '(.*?)'", "the value of `{}` can't be read"),
)


def reworded(error: TyperException) -> UsageError:
    """The library's exception as ours."""
    context = getattr(error, "ctx", None)
    said = str(getattr(error, "format_message", error.__str__)())
    hint = f"see `{getattr(context, 'command_path', 'turnout')} -h`"
    for pattern, words in _WORDS:
        if found := re.match(pattern, said, re.DOTALL):
            if words.startswith("there is no") and (near := nearest(found[1], _known(context))):
                hint = f"did you mean `{near}`?"
            return UsageError(words.format(found[1]), hint)
    return UsageError(said[:1].lower() + said[1:].rstrip("."), hint)


def _known(context: object) -> list[str]:
    """The options and commands that the context knows."""
    command = getattr(context, "command", None)
    options = [name for option in getattr(command, "params", ()) for name in option.opts if name.startswith("-")]
    return [*options, *getattr(command, "commands", ())]
