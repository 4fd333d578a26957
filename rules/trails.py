"""What a migration leaves behind: its findings, and where the things that it moved had been written."""

from .errors import Severity
from .findings import Finding
from .places import Node, Pointer, Spot, pointer


class Trail:
    """The findings and moves of one migration; their pointers lead into the document as it was written."""

    __slots__ = ("_moved", "findings")

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._moved: dict[Pointer, Pointer] = {}

    def origin(self, pointer: Pointer) -> Pointer:
        """Where the value at `pointer` of the migrated document was written."""
        if not self._moved:
            return pointer
        written: Pointer = ()
        for length in range(len(pointer) + 1):
            here = pointer[:length]
            written = self._moved.get(here, (*written, here[-1]) if here else ())
        return written

    def move(self, new: Node, old: Node) -> None:
        """Remember that what is now at `new` was written at `old`."""
        self._moved[pointer(new)] = self.written(old)

    def written(self, at: Node) -> Pointer:
        """As `origin`, for a place."""
        return self.origin(pointer(at))

    def find(
        self, code: str, message: str, at: Node, *, hint: str = "", severity: Severity = "error", key: bool = False
    ) -> None:
        """Add a finding at `at`, or with `key` at the key that it is written under."""
        spot = Spot(self.written(at), key)
        self.findings.append(Finding(code=code, message=message, hint=hint, severity=severity, spot=spot))

    def note(self, message: str, hint: str, at: Node) -> None:
        """An older shape was read as today's."""
        self.find("M004", message, at, hint=hint, severity="note")

    def clash(self, key: str, other: str, at: Node) -> None:
        """Two keys of an object say the same thing, perhaps differently."""
        message = f"`{key}` and `{other}` are two names of one thing"
        self.find("K004", message, (at, key), hint=f"put everything into `{other}`", key=True)
