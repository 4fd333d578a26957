"""Takes secrets out of a text: keys, tokens, passwords, cookies and credentials, each replaced by a mark.

Time is linear in the text. Every expression starts at something rare (a name, a scheme, the start of a word),
takes what it reads possessively, and either removes what it has read or has read a bounded length; no
expression looks twice at the same stretch from many starts.
"""

import base64
import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

MARK = "<REDACTED>"

# Letter case and blank space are those of ASCII, as in the reference.
_EXACT = re.ASCII | re.DOTALL
_ANY_CASE = _EXACT | re.IGNORECASE

# Names that say "secret". Only the end counts: `x-api-key`, `refreshToken`, `max_token`, but not `tokens`.
_KEYS = ("api", "access", "account", "private", "secret", "signing", "encryption")
_ENDINGS = (
    *(rf"{key}[_-]?key" for key in _KEYS),
    *("token", "secret", "authorization", "passw(?:or)?d", "passphrase"),
)
# Only for the first letter both cases are written out: `re` then skips what begins with none of these
# letters, four times as fast.
_NAME = f"(?:{'|'.join(f'{a}(?i:{name[1:]})' for name in _ENDINGS for a in (name[0], name[0].upper()))})"
_SETS = r"\s*[:=]\s*"
# A reference to a vault says where a secret lies, not what it is.
_VAULT = r"\$\{(?:eddi)?vault:[^}\s\"'\\]{0,200}\}"
# One character of a value without quotes. An apostrophe between letters belongs to it. Backslashes before a
# quote belong to the quote: without them it would end the JSON string that it stands in.
_CHAR = r"(?:[^\s,;}\]{\"'\\]|(?<=\w)'(?=\w)|\\++(?![\"']))"
# At least 8 characters, as in the reference.
_VALUE = rf"(?P<value>(?:{_VAULT}|{_CHAR}{{8}}|{_CHAR}{{1,7}}{_VAULT})(?:{_VAULT}|{_CHAR})*+)"
# What follows the name of a scheme in prose rather than in a header.
_PROSE = r"(?!(?i:auth\w*|tokens?|credentials?|scheme|header|is|was|not|and|or|to|required)\b)"
# Before a key: no part of a longer word, nor an escape other than an escaped line break or tab.
_KEY_STARTS = r"(?:(?<![\w\\-])|(?<=\\[nrt]))"

_LEGIBLE = re.compile(rf"(?:sk-ant-|sk-|Bearer\s+|Basic\s+)?{MARK}|{_VAULT}", _ANY_CASE)
_QUOTED = re.compile(rf"(?P<name>{_NAME})(?:\\*[\"'])?{_SETS}[bu]?(?P<escapes>\\*)(?P<quote>[\"'])", _EXACT)
_SHORT = re.compile(r"[^\s,:;)}\]]")
_BARE_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*+"')
_QUOTE_AHEAD = re.compile(r"(\\*)[\"']")
_PORT = re.compile(r"\d{1,5}[/?#]")
_USER = re.compile(r"(?:^|[=,;(\[{<'`|])([\w.+-]+):(?!//)", _EXACT)
_NO_USERS = frozenset(("mailto", "sip", "sips", "xmpp", "acct"))
_MOST_ROUNDS = 8


def redact(text: str) -> str:
    """`text` without its secrets, each replaced by `<REDACTED>`; what says which secret it was stays.

    A JSON document stays valid JSON.
    """
    lower = text.lower()
    for needle in _NEEDLES:
        if needle in lower:
            break
    else:
        return text  # no rule can match: the common case, which must cost next to nothing
    # INVARIANT: redacting a redacted text changes nothing. Taking one secret out may complete the pattern of
    # another, so the rules are applied until nothing changes; a text that does not settle is given up whole.
    for _ in range(_MOST_ROUNDS):
        redacted = text
        for rule in _RULES:
            if any(needle in lower for needle in rule.needles):
                redacted = rule.apply(redacted)
        if redacted == text:
            return text
        text, lower = redacted, redacted.lower()
    return MARK


def _quoted_values(text: str) -> str:
    """Redact `name: "value"` and its like: single quotes, quotes in escaped JSON, values that never end."""
    found = _QUOTED.search(text)
    quotes = _bare_quotes(text) if found else ()
    pieces: list[str] = []
    done = 0
    while found:
        start = end = found.end()
        limit = _limit(found, quotes, len(text))
        if limit is not None:
            end = _end_of_value(text, start, limit, len(found["escapes"]), found["quote"])
        password = found["name"][:4].lower() == "pass" and _SHORT.match(text, start, end)
        short = end - start < 8 and not password
        if not short and not _LEGIBLE.fullmatch(text, start, end):
            pieces += text[done:start], MARK
            done = end
        found = _QUOTED.search(text, max(start, done))
    return "".join((*pieces, text[done:]))


def _bare_quotes(text: str) -> Sequence[int]:
    """Where the strings of a JSON document begin and end; nothing for other texts."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return ()
    try:
        json.loads(text, parse_int=str)  # as text, because very long numbers are refused
    except (ValueError, RecursionError):
        return ()
    return array("Q", (quote.end() - 1 for quote in _BARE_QUOTE.finditer(text)))


def _limit(found: re.Match[str], quotes: Sequence[int], length: int) -> int | None:
    """How far a value may reach: not beyond the JSON string around it. None if the quote opens nothing."""
    before = bisect_left(quotes, found.start("quote"))
    if before % 2 == 0:
        return length
    if found["quote"] == '"':
        return None if len(found["escapes"]) % 2 == 0 else length  # it ends the string; or it is inside
    return quotes[before] if before < len(quotes) else length


def _end_of_value(text: str, start: int, limit: int, escapes: int, quote: str) -> int:
    """Where a quoted value ends: before the quote that closes it, or one that closes what is around it."""
    end = _content(min(_level(escapes), 255), quote).match(text, start, limit).end()  # type: ignore[union-attr]  # always
    ahead = _QUOTE_AHEAD.match(text, end, limit)
    return end + len(ahead[1]) - _level(len(ahead[1])) if ahead else end


def _level(escapes: int) -> int:
    """Of so many backslashes before a quote, those that belong to it: 0, 1, 3, 7 … as strings are nested."""
    return (escapes ^ (escapes + 1)) >> 1


@lru_cache(maxsize=32)
def _content(level: int, quote: str) -> re.Pattern[str]:
    """All up to a quote that has `level` backslashes of its own, or fewer; those with more are content."""
    period = 2 * (level + 1)
    inside = r"|(?<=\w)'(?=\w)" if quote == "'" else ""
    escaped = rf"(?:\\{{{period}}})*+\\{{{period - 1}}}{quote}"
    return re.compile(rf"(?:[^{quote}\\]++|\\++(?!{quote})|{escaped}{inside})*+", _EXACT)


def _unquoted_value(found: re.Match[str]) -> str:
    if _LEGIBLE.fullmatch(found["value"]):
        return found[0]
    # A number in JSON becomes a string. Of the backslashes before its name's quote, some may be the name's.
    quote = found.groupdict().get("quote") or ""
    quote = quote[-1 - _level(len(quote) - 1) :] if quote else ""
    return f"{found['name']}{quote}{MARK}{quote}"


def _basic(found: re.Match[str]) -> str:
    """Redact what decodes to `user:password`; prose about a basic something does not."""
    encoded = found[2].replace("-", "+").replace("_", "/")
    decoded = base64.b64decode(encoded[: len(encoded) // 4 * 4])
    return found[1] + MARK if decoded.isascii() and b":" in decoded else found[0]


def _userinfo(found: re.Match[str]) -> str:
    """Redact the password in a word that ends with `@`, before a host: `scheme://user:pw@` or `user:pw@`."""
    word = found[0]
    scheme, separator, authority = word.partition("://")
    if separator:
        user, colon, password = authority.partition(":")
        named = bool(colon) and not any(mark in user for mark in "/?#") and not _PORT.match(password)
        start = len(scheme) + len(separator) + len(user) + 1
    else:
        name = _USER.search(word)
        named = name is not None and name[1].lower() not in _NO_USERS and not name[1].isdigit()
        start = name.end() if name else 0
    return f"{word[:start]}{MARK}@" if named and start < len(word) - 1 else word


class _Rule(NamedTuple):
    needles: tuple[str, ...]
    """Lower-case pieces, one of which stands in every text that the rule changes."""
    apply: Callable[[str], str]


def _replacing(
    pattern: str, replacement: str | Callable[[re.Match[str]], str], flags: re.RegexFlag = _ANY_CASE
) -> Callable[[str], str]:
    return partial(re.compile(pattern, flags).sub, replacement)


_KEEPING_NAME = rf"\g<name>{MARK}"
_NAMES = ("key", "token", "secret", "authorization", "passw", "passphrase")
_RULES = (
    # A private key in PEM form, to its end or to that of the string or text that it was cut off with.
    _Rule(
        ("private key",),
        _replacing(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[^\"\\-]++|\\++[nr]|-(?!----END))*+(?:-----END[A-Z0-9 ]{0,60}-----)?",
            MARK,
        ),
    ),
    # Keys of model providers.
    _Rule(("sk-",), _replacing(r"(?P<name>sk-ant-|sk-)[\w-]{20,}", _KEEPING_NAME, _EXACT)),
    # Bearer tokens wherever they stand.
    _Rule(("bearer",), _replacing(r"(bearer)\s+[\w.+/=~-]{20,}", rf"\1 {MARK}")),
    # `"apiKey": "…"`. From here on, a name decides; quoted values first, then those without quotes.
    _Rule(_NAMES, _quoted_values),
    # `"token": 12345678`, a quoted name before a value without quotes.
    _Rule(
        _NAMES,
        _replacing(rf"(?P<name>{_NAME}(?P<quote>\\*[\"']){_SETS})(?!\[){_VALUE}", _unquoted_value, _EXACT),
    ),
    # `api_key=…`, `x-api-key: …`.
    _Rule(_NAMES, _replacing(rf"(?P<name>{_NAME}{_SETS}){_VALUE}", _unquoted_value, _EXACT)),
    # `Authorization: Basic …`, whatever the length.
    _Rule(
        ("bearer", "basic"),
        _replacing(
            rf"(?P<name>{_NAME}(?:\\*[\"'])?{_SETS}(?:[bu]?\\*[\"'])?(?i:bearer|basic)\s+){_PROSE}"
            r"[^\s,;\"'\\<>)\]}]+",
            _KEEPING_NAME,
            _EXACT,
        ),
    ),
    # Basic credentials without a header's name.
    _Rule(("basic",), _replacing(r"\b(basic\s+)([\w+/-]{8,})=*", _basic)),
    # `Cookie: a=1; b=2`, to the end of the line or string.
    _Rule(
        ("cookie",),
        _replacing(
            rf"(?P<name>cookie2?(?:\\*[\"'])?{_SETS}(?:[bu]?\\*[\"'])?)[^\s=:;,}}\]\"'\\<]+="
            r"(?:[^\r\n\"'\\]|(?<==)\"[^\s\",:}\]\\][^\"\\\r\n]*\")*+",
            _KEEPING_NAME,
        ),
    ),
    # `Password=pw`, `AccountKey=…` of any length, as in connection strings. (`PWD=/home/me` is a folder.)
    _Rule(
        ("passw", "pwd", "accountkey", "accesskey"),
        _replacing(
            r"(?P<name>(?:passw(?:or)?d|pwd|accountkey|accesskey)=)(?![\"'\\<$/]|sk-(?:ant-)?<)"
            r"[^\s;&\"'\\<>)\]}]+",
            _KEEPING_NAME,
        ),
    ),
    # Keys in a query: `?key=…`, and the signatures of links that are signed beforehand.
    _Rule(
        ("key=", "sig=", "signature=", "x-amz-"),
        _replacing(
            r"(?P<name>[?&;](?:key|sig|signature|x-amz-(?:signature|credential|security-token))=)"
            r"[^&;\s\"'#<>\\]{4,}",
            _KEEPING_NAME,
        ),
    ),
    # Keys that are known by how they begin: AWS, Google, GitHub, GitLab, Slack, Stripe.
    _Rule(
        (
            "akia",
            "asia",
            "aiza",
            "ya29.",
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "_pat_",
            "glpat-",
            "xox",
            "xapp-",
            "k_live_",
            "k_test_",
        ),
        _replacing(
            rf"{_KEY_STARTS}(?:A[KS]IA[A-Z0-9]{{12,}}|AIza[\w-]{{16,}}|ya29\.[\w-]{{16,}}"
            r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}"
            r"|xapp-[\w-]{8,}|[rs]k_(?:live|test)_[A-Za-z0-9]{8,})",
            MARK,
            _EXACT,
        ),
    ),
    # JSON Web Tokens: they begin like `{"` in base64; dotted names do not.
    _Rule(("eyj",), _replacing(rf"{_KEY_STARTS}eyJ[\w-]{{5,}}(?:\.[\w-]+){{1,4}}", MARK, _EXACT)),
    # `postgres://user:pw@host`, `user:pw@host`: each word is read once, to its last `@`.
    _Rule(("@",), _replacing(r"(?<![^\s\"])[^\s\"]*@(?=[\w\[])", _userinfo)),
    # `--password pw`.
    _Rule(
        ("--",),
        _replacing(
            rf"(?<![\w-])(?P<name>--[\w-]{{0,40}}?{_NAME}\s+)(?!-){_PROSE}"
            r"(?:(?P<open>\\*[\"'])(?![\s,:}\]])[^\"'\\\r\n]+|[^\s\"'\\<]+)",
            rf"\g<name>\g<open>{MARK}",
            _EXACT,
        ),
    ),
)
_NEEDLES = tuple(dict.fromkeys(needle for rule in _RULES for needle in rule.needles))
