"""Says where a model is asked, and with which key."""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from ...rules.checking_calls import wrong_address
from ...rules.llm import ADDRESSES, KEY_REFERENCE, LlmModel
from ...rules.templates import PLACEHOLDER, LookUp, filled
from .asking import failed
from .servers import percent

_LONGEST_KEY = 10_000
_NO_NAME = re.compile(r"[^A-Z0-9_]")
# What can stand in a header and is no part of another: no blank, no line break, no letter beyond ASCII.
_KEY = re.compile(r"[\x21-\x7e]+")


def server_of(model: LlmModel, look_up: LookUp, environment: Mapping[str, str]) -> tuple[str, bool]:
    """The address under which the model is asked, and whether the environment's key for OpenAI may be sent there.

    It may to OpenAI's own servers, and to `OPENAI_BASE_URL`, which is what the environment has instead of them. An
    address for Ollama without a path gets `/v1`: elsewhere it is written without. Raises `LlmError`.
    """
    kind = model.type.strip().lower()
    written = model.parameters.base_url.strip()
    if not written and kind == "openai":
        return environment.get("OPENAI_BASE_URL", "").strip() or ADDRESSES[kind], True
    # INVARIANT: a value that is filled in stays within its part of an address, unless it is all of it.
    inside = str if PLACEHOLDER.fullmatch(written) else partial(percent, safe=":")
    url = filled(written, look_up, inside).strip() if written else ADDRESSES[kind]
    if wrong := wrong_address(url):
        raise failed(f"`baseUrl` {wrong[0]}")
    parts = urlsplit(url)
    if kind == "ollama" and parts.path in ("", "/"):
        url = url.rstrip("/") + "/v1"
    host = parts.hostname or ""
    return url, parts.scheme.lower() == "https" and (host == "api.openai.com" or host.endswith(".api.openai.com"))


def key_of(model: LlmModel, look_up: LookUp, environment: Mapping[str, str], *, trusted: bool) -> str:
    """The key that is sent; empty if there is none and none is needed. Raises `LlmError`, which shows no key."""
    written = model.parameters.api_key.strip()
    if not written:
        # INVARIANT: this key is sent to no server that an author has named, unless it is OpenAI's.
        if not trusted:
            return ""
        written = "${env:OPENAI_API_KEY}"
    found = KEY_REFERENCE.fullmatch(written)
    if found is None:
        key, where = filled(written, look_up), "`apiKey` is empty"
    elif found["file"]:
        key, where = _in_file(found["file"]), "the file that `apiKey` names cannot be read, or is empty"
    else:
        name = found["env"] or _NO_NAME.sub("_", found["vault"].upper())
        key, where = environment.get(name, ""), "the variable of the environment with the key for the model is not set"
    key = key.strip()
    if not key:
        raise failed(where)
    if not _KEY.fullmatch(key):
        raise failed("`apiKey` has a blank or a letter in it that no key can have")
    return key


def _in_file(name: str) -> str:
    with suppress(OSError, ValueError):
        path = Path(name)
        if path.is_file():  # to open a pipe may take for ever
            with path.open("rb") as file:
                return file.read(_LONGEST_KEY).decode("utf-8", "replace")
    return ""
