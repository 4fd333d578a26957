"""What can be said of a file of HTTP calls without making one: addresses, methods, templates, paths."""

from collections.abc import Container, Iterator
from urllib.parse import urlsplit

from .calls import METHODS, HttpCall, HttpCallsFile
from .checking_templates import checked_building, checked_properties, placeholders
from .findings import Finding, listed, shown, warning
from .places import Pointer, Spot
from .spelling import suggestion
from .templates import JSON_PIECES

HIDDEN = frozenset({"memory", "properties", "context", "httpCalls"})
"""What paths find in every turn; an answer of such a name would stand before it."""


def checked_calls(file: HttpCallsFile) -> Iterator[Finding]:
    """All findings of a file of calls, at pointers into its document; the errors keep it from being used."""
    wrong = wrong_address(file.target_server_url)
    if wrong:
        message, hint = wrong
        yield Finding(code="H001", message=f"`targetServerUrl` {message}", hint=hint, spot=Spot(("targetServerUrl",)))
    for index, call in enumerate(file.http_calls):
        at, about = ("httpCalls", index), f"call {shown(call.name)}"
        method = call.request.method.strip()
        if method and method.upper() not in METHODS:
            message = f"{about}: `method` must be {listed(METHODS, 'or')}, not {shown(method)}"
            hint = suggestion(method, METHODS, "write one of these")
            yield Finding(code="V003", message=message, hint=hint, spot=Spot((*at, "request", "method")))
        for pointer, text in _templates(call, (*at, "request")):
            yield from placeholders(about, text, pointer)
        yield from checked_properties(
            call.pre_request.property_instructions, (*at, "preRequest", "propertyInstructions")
        )
        yield from taken_name(about, call.response_object_name, (*at, "responseObjectName"))
        yield from taken_name(about, call.response_header_object_name, (*at, "responseHeaderObjectName"))
        yield from _after(call, about, (*at, "postResponse"))


def taken_name(about: str, name: str | None, at: Pointer, taken: Container[str] = HIDDEN) -> Iterator[Finding]:
    """What is wrong with the name of an answer, at its key: what every turn has already would be hidden."""
    if name and name in taken:
        message = f"{about}: `{at[-1]}` cannot be {shown(name)}, which every turn has already"
        yield Finding(code="V007", message=message, hint="choose another name", spot=Spot(at))


def _after(call: HttpCall, about: str, at: Pointer) -> Iterator[Finding]:
    """All findings of what happens after the answer to a call."""
    after, name = call.post_response, call.response_object_name
    said, offered = after.output_build_instructions, after.qr_build_instructions
    if call.fire_and_forget and (after.property_instructions or said or offered or after.retry_api_call_instruction):
        message = f"{about}: nothing of `postResponse` happens, for nobody waits for an answer"
        hint = "take `fireAndForget` out, or `postResponse`"
        yield warning("H006", message, hint, at)
    known = [call.response_header_object_name or ""]
    if name:
        known += [name, f"{name}Error", f"{name}HttpCode"]
    yield from checked_properties(after.property_instructions, (*at, "propertyInstructions"), known)
    yield from checked_building(said, about, (*at, "outputBuildInstructions"), known)
    yield from checked_building(offered, about, (*at, "qrBuildInstructions"), known)


def wrong_address(url: str) -> tuple[str, str] | None:
    """What is wrong with the address of a server, and a hint; the address may hold a password and is not shown."""
    hint = "write one such as `https://api.example.com`"
    if "{" in url or "}" in url:
        return "cannot have placeholders", "write it out, or move the part with the placeholder into `path`"
    if any(sign.isspace() or not sign.isprintable() for sign in url):
        return "has a blank or an invisible character in it", hint
    if not url.lower().startswith(("http://", "https://")):
        return "is no http or https address", hint
    if "?" in url or "#" in url:
        return "has a query or a fragment", "move the query into `queryParams` of each request"
    try:
        parts = urlsplit(url)
        if not parts.hostname:
            return "names no server", hint
    except ValueError:
        return "names no server", hint
    try:
        legal = parts.port != 0
    except ValueError:
        legal = False
    return None if legal else ("has a port that is none", "write a port from 1 to 65535, or none")


def _templates(call: HttpCall, at: Pointer) -> Iterator[tuple[Pointer, str]]:
    """The texts of a call in which placeholders are filled in; a JSON body is as many as it has strings, and one."""
    request = call.request
    yield (*at, "path"), request.path
    for name, text in request.query_params.items():
        yield (*at, "queryParams", name), text
    yield (*at, "contentType"), request.content_type
    for name, text in request.headers.items():
        yield (*at, "headers", name), text
    if not request.is_json:
        yield (*at, "body"), request.body
        return
    for found in JSON_PIECES.finditer(request.body):
        if found["string"]:
            yield (*at, "body"), found["string"]
    yield (*at, "body"), JSON_PIECES.sub(lambda found: "" if found["string"] else found[0], request.body)
