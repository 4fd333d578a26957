"""Logs as lines of JSON on standard error, without what was said and without secrets."""

import json
import logging
import sys
from datetime import UTC, datetime

from ...engine.redaction import redact


class JsonLines(logging.Formatter):
    """A record as one line of JSON; of an exception its class, since its words may hold anything."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": redact(record.getMessage()),
        }
        if record.name != "turnout.service":
            line["logger"] = record.name
        fields = getattr(record, "fields", None)
        if isinstance(fields, dict):
            line |= fields
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=True)


def log_to_stderr() -> None:
    """Let Turnout and its server write such lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("turnout", logging.WARNING), ("turnout.service", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        if "." not in name:
            logger.handlers = [handler]
            logger.propagate = False
