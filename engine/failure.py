"""Puts a failure into words, once for everybody and once for the operator.

The public text goes to callers and to models, the operator's to logs. Both are made here from the exception;
nothing turns the one into the other.
"""

import html
import json
import re
from asyncio import CancelledError
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

import regex

from ..rules.authored import ErrorType
from .classify import WINDOW, chain, kind_of, message
from .redaction import MARK, redact

PUBLIC_LENGTH = 200
"""Characters of a public text at most, the ellipsis included."""
OPERATOR_LENGTH = 500
"""Characters of an operator's text at most, the ellipsis included."""

# A task's name is cut to this, so that there is room for a reason.
_TASK_LENGTH = 120
# How much is dropped where a message was cut: more than any secret shows before a rule can know it.
_EDGE = 300
_MOST_BODIES = 4
_DEEPEST = 4

# Texts that say nothing.
_SILENT = frozenset(("", "None", "{}", "[]", "()", "null", "''", '""', "b''", 'b""'))
# Nothing in such a text is stripped or collapsed: the common case, which must cost next to nothing.
_PLAIN = re.compile(r"(?:[\w,;:!?'%&*+=#-]++|\.(?![A-Za-z_.])| (?=[^ ]))*+", re.ASCII)

# Where a body in JSON or in Python's notation may begin, and the quote that it stands in.
_BODY = re.compile(r"""(?:\b(b?["']))?(?P<body>\[\s*\{|\{)\s*["'}]""")
# The message in a body that is no JSON: in Python's notation, or cut off.
_FIELDS = tuple(
    re.compile(rf"""["']{key}["']\s*:\s*(?:"((?:[^"\\]|\\.)*+)|'((?:[^'\\]|\\.)*+))""", re.DOTALL)
    for key in ("message", "detail", "msg", "error")
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
# Under which keys a provider says what is wrong, best first.
_KEYS = ("message", "Message", "error_description", "detail", "error", "errors", "title", "msg")
_STATUS_ONLY = re.compile(r"\s*\d{3}\s*[:-]?\s*")
_DECODER = json.JSONDecoder()

_PAGE = re.compile(r"<(?:!doctype|\?xml|html|head|body|title|h1|center)\b.*", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"<(?:title|h[1-3]|message)\b[^<>]*>([^<>]*)<", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>?")

_FRAMES = re.compile(
    r"""
      \bat\s (?:async\s|new\s)? [\w.$<>/@\[\]-]{1,300} (?:\s\[as\s[\w.$]{1,100}\])? \s?    # Java; Node
      \( (?: [^()\n]{0,300}:\d+ | Native\ Method | Unknown\ Source | native | <anonymous> | index\ \d+ ) \)
      (?: \s* ~?\[ [^\]\n]{0,300} \] )?
    | \bat\s (?:async\s)? [^\s()]{0,300} (?:[/\\] [^\s()]{1,300}? | \.[cm]?[jt]sx?) :\d+:\d+   # Node, no name
    | \.\.\.\s \d+\s (?:more | common\ frames\ omitted)
    | Traceback\ \(most\ recent\ call\ last\):
    | \n?[ \t]* File\ "[^"\n]{1,300}",\ line\ \d+ (?:,\ in\ [\w.<>]{1,200})?                # Python, with
      (?: \n[ \t]{4,} (?!File\ ")[^\n]*+ )*+                                               # its source
    """,
    re.VERBOSE,
)
_NEXT_TRACE = re.compile(
    r"\n(?:Caused by:|During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:)\s*"
)
# `eddi://` is no address, it is how tasks are named. What ends a sentence ends no address.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,20}(?<!\beddi)://\S*", re.IGNORECASE)
_AFTER_ADDRESS = ".,;:!?)]}\"'>"
_CLASS = re.compile(
    r"(?<![\w.$/-])(?:[a-z_]\w{0,60}\.){1,12}(?:[A-Z]\w{0,80}[.$]){0,4}([A-Z]\w{0,80})(?![\w.(])"
    r"(:(?:\s+|$))?"
)
_RAISED = ("Error", "Exception", "Failure", "Fault", "Timeout", "Warning", "Throwable")

# Blank space, control and format characters (bidi, zero width, tags), lone surrogates, terminal escapes; but
# not the joiner inside an emoji.
_BLANK = regex.compile(
    r"(?:\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)?"
    r"|(?!(?<=[\p{Extended_Pictographic}\p{EMod}\ufe0f])\u200d(?=\p{Extended_Pictographic}))"
    r"[\s\p{Cc}\p{Cf}\p{Cs}\p{Z}\U000e0100-\U000e01ef])++"
)


class PublicText(str):
    """A text that callers and models may see."""

    __slots__ = ()


class OperatorText(str):
    """A text for logs and local doors: redacted, but with addresses and class names."""

    __slots__ = ()


_TRACEBACK = BaseException.__dict__["__traceback__"]


@dataclass(slots=True)
class Failure:
    """What is told of a failure: texts only, neither the exception nor what its traceback keeps alive."""

    public: PublicText
    """`Task '<task>' failed: <reason>`, at most 200 characters."""
    operator: OperatorText
    """At most 500 characters."""
    reason: PublicText
    """The reason as it stands in `public`, cut where it is cut there."""
    error_type: ErrorType


def describe(error: BaseException, task: str, beyond: BaseException | None = None) -> Failure:
    """Tell why `task`, named as it is shown (`eddi://ai.labs.llm`, `weather`), failed. Raises nothing.

    The reason is the outermost message and the most specific one beneath it, each reduced to what a provider
    meant to say; without any, the name of the class. Secrets are taken out before anything is cut. For `beyond` see
    `chain`.
    """
    try:
        return _described(error, task, beyond)
    except Exception:  # noqa: BLE001 - an exception may be made so that whatever is asked of it raises
        opening = _opening(task)
        return Failure(PublicText(f"{opening}failed"), OperatorText("failed"), PublicText("failed"), "unknown")


def _described(error: BaseException, task: str, beyond: BaseException | None) -> Failure:
    links = chain(error, beyond)
    said = told = redact(_said(links))
    # The text of `KeyError('amount')` is only "'amount'".
    if any([isinstance(link, KeyError) for link in links]):  # noqa: C419 - a list is faster for one or two
        told = redact(_said(links, named=KeyError))
    opening = _opening(task)
    if said and told is said and _PLAIN.fullmatch(said):
        operator = reason = said
    else:
        # That something inside was cancelled is how time-outs are made, and says nothing.
        telling = [link for link in links if not isinstance(link, CancelledError)]
        name = _line(type((telling or links)[-1]).__name__) or "failed"
        operator = _line(told) or name
        reason = _line(_without_internals(said)) or name
    reason = _cut(reason, PUBLIC_LENGTH - len(opening))
    return Failure(
        PublicText(opening + reason),
        OperatorText(_cut(operator, OPERATOR_LENGTH)),
        PublicText(reason),
        kind_of(links),
    )


def where(error: BaseException) -> str:
    """Where `error` was raised: file name and line (`tasks.py:12`), nothing of what stands there.

    Empty for an exception that was never raised.
    """
    # As the interpreter sees it: a subclass may say something else, or raise.
    trace = _TRACEBACK.__get__(error)
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{_file_name(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


@lru_cache(maxsize=256)
def _file_name(path: str) -> str:
    return _cut(_line(PurePath(path).name), _TASK_LENGTH)


@lru_cache(maxsize=256)
def _opening(task: str) -> str:
    return f"Task '{_cut(_line(task), _TASK_LENGTH)}' failed: "


def _said(links: list[BaseException], named: type[BaseException] | None = None) -> str:
    """The outermost message of a chain and the most specific one beneath it, if that is not already in it.

    The message of a `named` exception begins with its class.
    """
    wrapper = cause = ""
    beneath = iter(links)
    for link in beneath:
        wrapper = _told(link, named)
        if wrapper:
            break
    for link in reversed(list(beneath)):
        cause = _told(link, named)
        if cause:
            break
    if cause in wrapper:
        return wrapper
    opening = wrapper.rstrip(" .:")
    return f"{opening}: {cause}" if opening else cause


def _told(error: BaseException, named: type[BaseException] | None) -> str:
    argument = error.args[0] if len(error.args) == 1 else None
    text = message_in(argument) if isinstance(argument, dict | list) else message(error)
    if len(text) > WINDOW:
        text = window(text)
    if "{" in text:
        text = _without_bodies(text)
    if "<" in text:
        text = _without_page(text)
    text = text.strip()
    if text in _SILENT:
        return ""
    return f"{type(error).__name__}: {text}" if named and isinstance(error, named) else text


def window(text: str) -> str:
    """Keep the beginning of a long text, without secrets.

    Only this is looked at.
    """
    # INVARIANT: the cut lets no part of a secret through. What is cut goes on as letters, so that a rule that
    # needs a length sees it; then the word at the edge is dropped, or the end of one that is very long.
    text = redact(text[:WINDOW] + "A" * _EDGE)
    edge = text[-2 * _EDGE :]
    last = max(edge.rfind(blank) for blank in " \t\n")
    return text[: len(text) - len(edge) + last] if last > 0 else text[: -2 * _EDGE]


def _without_bodies(text: str, depth: int = 0) -> str:
    """Put in place of each JSON body the message in it."""
    pieces: list[str] = []
    done = start = 0
    for _ in range(_MOST_BODIES):
        found = _BODY.search(text, start)
        if not found:
            break
        start = found.start("body") + 1
        told, end = _body(text, found.start("body"))
        if told:
            before = text[done : found.start()]
            if found[1] and text[end : end + 1] == found[1][-1]:
                end += 1
            pieces.append("" if _STATUS_ONLY.fullmatch(before) else before)
            pieces.append(_without_bodies(told, depth + 1) if "{" in told and depth < _DEEPEST else told)
            done = start = end
    return "".join((*pieces, text[done:]))


def _body(text: str, start: int) -> tuple[str, int]:
    """Find the message of the body that begins at `start`, and where the body ends."""
    try:
        body, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        fields = (pattern.search(text, start) for pattern in _FIELDS)
        field = next((field for field in fields if field), None)
        if not field:
            return "", start
        end = text.rfind("]" if text[start] == "[" else "}") + 1
        told = _ESCAPE.sub(_unescaped, field[1] or field[2] or "").strip()
        return told, end if end > field.end() else len(text)
    return message_in(body), end


def _unescaped(escape: re.Match[str]) -> str:
    return " " if escape[1] in "nrt" else escape[1]


def message_in(body: object, depth: int = 0) -> str:
    """What a provider says is wrong, in the data of its answer; empty where it says nothing."""
    if isinstance(body, str):
        return body.strip()
    if depth > _DEEPEST:
        return ""
    parts: Iterable[object] = ()
    if isinstance(body, dict):
        parts = (body[key] for key in _KEYS if key in body)
    elif isinstance(body, list):
        parts = body[:_MOST_BODIES]
    return next((told for part in parts if (told := message_in(part, depth + 1))), "")


def _without_page(text: str) -> str:
    """Put in place of a page of HTML its title or heading, else its text."""
    found = _PAGE.search(text)
    if not found:
        return text
    headings = (heading.strip() for heading in _HEADING.findall(found[0]))
    told = next(filter(None, headings), "") or _TAG.sub(" ", found[0])
    return text[: found.start()] + html.unescape(told)


def _without_internals(text: str) -> str:
    """Strip stack frames, addresses and class names, and redact once more what has moved together."""
    lines = (line.strip() for line in _FRAMES.sub(" ", text).split("\n"))
    stripped = _NEXT_TRACE.sub(": ", "\n".join(filter(None, lines)))
    stripped = _CLASS.sub(_simple_name, _ADDRESS.sub(_no_address, stripped))
    return text if stripped == text else redact(stripped.strip(" \n\t:"))


def _no_address(found: re.Match[str]) -> str:
    address = found[0]
    end = len(address.rstrip(_AFTER_ADDRESS))
    if address.endswith(MARK[:-1], 0, end) and address.startswith(MARK[-1], end):
        end += 1  # the mark of what was redacted is part of the address
    return "[url]" + address[end:]


def _simple_name(found: re.Match[str]) -> str:
    """Drop the class of an exception that its message follows; other classes keep their simple name."""
    name, colon = found[1], found[2]
    raised = name.endswith(_RAISED)
    packages = found[0].count(".") > 1
    if not raised and not packages:
        return found[0]  # a file, or a name with a capital
    return "" if colon else name


def _line(text: str) -> str:
    line = str(_BLANK.sub(" ", text)).strip()
    return line if line == text else redact(line)


def _cut(text: str, length: int) -> str:
    """Cut `text` to `length` characters, `...` included, and never inside what a reader sees as one."""
    if len(text) <= length:
        return text
    end = length - 3
    if not text.isascii():
        end = 0
        for cluster in regex.finditer(r"\X", text):
            if cluster.end() > length - 3:
                break
            end = cluster.end()
    return text[:end].rstrip() + "..."
