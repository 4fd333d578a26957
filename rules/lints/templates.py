"""The check of outputs against the step that fills them in."""

from collections.abc import Iterator

from ..findings import shown
from ..step_types import SHORT_TASKS
from ..templates import has_templates
from .found import Found
from .survey import Survey


def template_findings(survey: Survey) -> Iterator[Found]:
    """The outputs with placeholders that nothing fills in; of an output set, the first one."""
    for place, outputs in survey.outputs.items():
        if any(step.task == SHORT_TASKS["templating"] for step in survey.steps[place + 1 :]):
            continue
        for number, output in enumerate(outputs.output_set):
            if has_templates(output.model_dump()):
                yield Found(
                    code="L028",
                    message=f"output {shown(output.action)} has placeholders, and is said as it stands",
                    why="no `templating` step comes after its step",
                    hint=lambda told: told.key(
                        "add a step `eddi://ai.labs.templating` behind it", "add `templating` to `steps`"
                    ),
                    model=outputs,
                    at=("outputSet", number, "action"),
                )
                break
