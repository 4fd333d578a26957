"""A zip as what holds an agent's files: they are read from it, and nothing is unpacked to disk.

Nothing that a zip says of itself is believed: names are looked at, and what comes out of it is counted.
"""

import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath

from .bundles import LINK, MOST_BYTES, is_folder, is_inside, plain_bytes, reason
from .errors import LoadError, Problem
from .findings import shown

MOST_ENTRIES = 10_000
"""How many entries a zip may have."""

_ENTRY = b"PK\1\2"  # stands before each entry of a zip's directory
_ENCRYPTED = 0x41  # the flags of an entry, of its two kinds
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the ways of packing of which a piece can be unpacked
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, OverflowError)
_HINT = "make the zip anew, or name the agent's folder"


def is_zip(path: Path) -> bool:
    """Whether a path has the name of a zip, and is no folder all the same."""
    return path.suffix.lower() == ".zip" and not is_folder(path)


class ZipBundle:
    """The files of a zip, without what is hidden and without the folders that all of them stand in.

    Raises `LoadError` for a zip that cannot be read, is encrypted or is too large.
    """

    word = "zip"

    def __init__(self, path: Path) -> None:
        self.problems: list[Problem] = []
        self._zip = path.as_posix()
        self._left = MOST_BYTES
        self._spent = False
        self._archive = self._opened(path)
        entries = self._entries()
        top = _common(list(entries))
        self._files = {file.relative_to(top): entry for file, entry in entries.items()}
        self.name = (PurePosixPath(self._zip) / top).as_posix()

    def entries(self) -> Iterator[tuple[PurePosixPath, str]]:
        """As the port says."""
        for file in sorted(self._files, key=lambda file: (len(file.parts), file)):
            yield file, LINK if stat.S_ISLNK(self._files[file].external_attr >> 16) else ""

    def read(self, file: PurePosixPath) -> bytes:
        """As the port says; what is read from one zip is bounded."""
        entry = self._files[file]
        place = (PurePosixPath(self.name) / file).as_posix()
        if self._spent:
            raise LoadError([])  # why was told once
        if entry.compress_type not in _PACKED:
            raise _refusal(place, "this is packed in a way that is not read here", "pack it as zips usually are")
        try:
            with self._archive.open(entry) as packed:
                data = packed.read(self._left + 1)
        except _BROKEN as error:
            raise _refusal(place, f"this part of the zip is broken: {_said(error)}", _HINT) from error
        if len(data) > self._left:
            self._spent = True
            raise _too_large(place, f"more than {MOST_BYTES // 2**20} MiB come out of it, up to here")
        self._left -= len(data)
        return data

    def _opened(self, path: Path) -> zipfile.ZipFile:
        try:
            data = plain_bytes(path)
        except (OSError, ValueError) as error:  # a NUL in the name
            raise _refusal(self._zip, reason("file", error)) from error
        if data.count(_ENTRY) > MOST_ENTRIES:  # before its directory is read
            raise _too_large(self._zip, f"it has more than {MOST_ENTRIES} entries")
        try:
            return zipfile.ZipFile(BytesIO(data))
        except _BROKEN as error:
            whole = zipfile.is_zipfile(BytesIO(data))
            message = f"the zip is broken: {_said(error)}" if whole else "this is not a zip, or only a part of one"
            raise _refusal(self._zip, message, _HINT) from error

    def _entries(self) -> dict[PurePosixPath, zipfile.ZipInfo]:
        """The files by their names; what is wrong with these goes to `problems`."""
        entries = [entry for entry in self._archive.infolist() if not _name(entry).endswith("/")]
        locked = next((entry for entry in entries if entry.flag_bits & _ENCRYPTED), None)
        if locked is not None:
            message = f"the zip is encrypted: {shown(_name(locked))} needs a password"
            raise _refusal(self._zip, message, "make the zip anew, without a password")
        outside = [_name(entry) for entry in entries if not is_inside(_name(entry))]
        self._tell(
            "A006", outside, "is no safe name of a file, and is not read", "make the zip of the agent's folder alone"
        )
        inside = [(PurePosixPath(_name(entry)), entry) for entry in entries if is_inside(_name(entry))]
        counts = Counter(file for file, _ in inside)
        again = [str(file) for file, count in counts.items() if count > 1]
        self._tell("A018", again, "stands in the zip more than once", "leave one of them in it")
        return {file: entry for file, entry in inside if not any(part.startswith(".") for part in file.parts)}

    def _tell(self, code: str, names: Sequence[str], what: str, hint: str) -> None:
        if names:
            more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
            message = f"{shown(names[0])}{more} {what}"
            self.problems.append(Problem(code=code, message=message, file=self._zip, hint=hint))


def _name(entry: zipfile.ZipInfo) -> str:
    """The whole name of an entry; those made on Windows may have backslashes."""
    return entry.orig_filename.replace("\\", "/")


def _common(files: Sequence[PurePosixPath]) -> PurePosixPath:
    """The innermost folder that holds all files."""
    tops = files[0].parents if files else ()
    return next((top for top in tops if all(file.is_relative_to(top) for file in files)), PurePosixPath())


def _said(error: Exception) -> str:
    words = str(error).rstrip(".")
    return words[:1].lower() + words[1:] if words else type(error).__name__


def _too_large(file: str, why: str) -> LoadError:
    return _refusal(file, f"the zip is too large: {why}", "take out what the agent does not need")


def _refusal(file: str, message: str, hint: str = "") -> LoadError:
    return LoadError([Problem(code="A001", message=message, file=file, hint=hint)])
