"""What can be said of a file of models without asking one: names, addresses, keys, numbers, templates."""

from collections.abc import Iterator

from .checking_calls import HIDDEN, taken_name, wrong_address
from .checking_templates import checked_building, checked_properties, placeholders
from .findings import Finding, shown, warning
from .llm import ADDRESSES, KEY_REFERENCE, NUMBERS, LlmFile, LlmModel, LlmParameters, number
from .outputs import TAKEN
from .places import Pointer, Spot
from .spelling import suggestion
from .templates import PLACEHOLDER, is_template

_TRUTHS = ("add_to_output", "convert_to_object", "include_first_agent_message")


def checked_llm(file: LlmFile) -> Iterator[Finding]:
    """All findings of a file of models, at pointers into its document; the errors keep it from being used."""
    for index, model in enumerate(file.tasks):
        at: Pointer = ("tasks", index)
        about = f"model {shown(model.id)}" if model.id else f"model {index + 1}"
        yield from _server(about, model, at)
        yield from _key(about, model.parameters.api_key, (*at, "parameters", "apiKey"))
        yield from _values(about, model.parameters, (*at, "parameters"))
        yield from _around(about, model, at)


def _server(about: str, model: LlmModel, at: Pointer) -> Iterator[Finding]:
    parameters = (*at, "parameters")
    url = model.parameters.base_url.strip()
    if not model.parameters.model_name.strip():
        message, hint = f"{about}: `modelName` is missing", 'add `"modelName": "…"` to the `parameters`'
        yield Finding(code="V001", message=message, hint=hint, spot=Spot(parameters))
    if not url and model.type.strip().lower() not in ADDRESSES:
        message = f"{about}: where models of type {shown(model.type)} are asked is not known"
        hint = "add a `baseUrl` to the `parameters`: the address of a server that speaks the protocol of OpenAI"
        hint = suggestion(model.type, ADDRESSES, hint)
        yield Finding(code="N001", message=message, hint=hint, spot=Spot((*at, "type")))
    if url and not is_template(url) and (wrong := wrong_address(url)):
        message, hint = f"{about}: `baseUrl` {wrong[0]}", "write one such as `https://api.example.com/v1`"
        yield Finding(code="H001", message=message, hint=hint, spot=Spot((*parameters, "baseUrl")))


def _key(about: str, written: str, at: Pointer) -> Iterator[Finding]:
    """What is to be said of a key, which is never shown."""
    written = written.strip()
    if not written or KEY_REFERENCE.fullmatch(written):
        return
    if "${" in PLACEHOLDER.sub(lambda found: "" if found[0][0] == "[" else found[0], written):
        message = f"{about}: where `apiKey` says that the key is cannot be read"
        hint = (
            "write `${env:NAME}`, with the name of a variable of the environment, or `${file:PATH}`, and nothing else"
        )
        yield Finding(code="V007", message=message, hint=hint, spot=Spot(at))
    elif not is_template(written):
        message = f"{about}: `apiKey` is a key itself, for everybody to read who gets the file"
        hint = "put it into the environment, write `${env:NAME}` here, and have the key replaced: it may have been seen"
        yield warning("N002", message, hint, at)


def _values(about: str, parameters: LlmParameters, at: Pointer) -> Iterator[Finding]:
    """What is to be said of the texts that are numbers, truths and templates."""
    for name, info in LlmParameters.model_fields.items():
        key, text = info.alias or name, getattr(parameters, name)
        spot = Spot((*at, key))
        yield from placeholders(about, text, spot.pointer)
        if is_template(text) or not text.strip():
            continue
        if name in _TRUTHS and text.strip().lower() not in ("true", "false"):
            message = f"{about}: `{key}` must be `true` or `false`, not {shown(text)}"
            hint = suggestion(text, ("true", "false"), "write one of these")
            yield Finding(code="V003", message=message, hint=hint, spot=spot)
        if name in NUMBERS:
            try:
                number(name, text)
            except ValueError as error:
                message = f"{about}: `{key}` {error}, not {shown(text)}"
                yield Finding(code="V007", message=message, hint="write it in digits, or leave it out", spot=spot)


def _around(about: str, model: LlmModel, at: Pointer) -> Iterator[Finding]:
    """What is to be said of what happens before and after an answer, and of its name."""
    name, before, after = model.response_object_name or "", model.pre_request, model.post_response
    yield from taken_name(about, name, (*at, "responseObjectName"), TAKEN | HIDDEN)
    here = (*at, "postResponse")
    yield from checked_properties(before.property_instructions, (*at, "preRequest", "propertyInstructions"))
    yield from checked_properties(after.property_instructions, (*here, "propertyInstructions"), [name])
    yield from checked_building(after.output_build_instructions, about, (*here, "outputBuildInstructions"), [name])
    yield from checked_building(after.qr_build_instructions, about, (*here, "qrBuildInstructions"), [name])
