"""Reading and writing the files that a user names."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ..rules.bundles import reason
from ..rules.errors import LoadError, Problem, UsageError, cause


def texts_in(folder: Path) -> list[Path]:
    """The texts in a folder and in the folders in it, sorted, without what is hidden there."""
    return sorted(file for file in folder.rglob("*.turnout") if file.is_file() and not is_hidden(file, folder))


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a path in a folder is hidden there, or stands in something that is."""
    return any(part[0] == "." for part in path.relative_to(folder).parts)


def read_file(path: Path) -> bytes:
    """The bytes of a file; `LoadError` where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        if isinstance(error, IsADirectoryError):
            hint, message = "name a file in it", "this is a folder, not a file"
        else:
            hint, message = "", reason("file", error)
        raise LoadError([Problem(code="A001", message=message, file=path.as_posix(), hint=hint)]) from error
    except ValueError as error:  # a NUL in the name
        raise LoadError([Problem(code="A001", message=str(error), file=ascii(path.as_posix()))]) from error


def write_file(path: Path, data: bytes) -> None:
    """Write a file anew; `UsageError` where it cannot be written."""
    try:
        path.write_bytes(data)
    except OSError as error:
        message = f"`{path.as_posix()}` cannot be written: {cause(error)}"
        raise UsageError(message, "name a place that can be written to") from error


def make_folder(path: Path) -> None:
    """Make a folder where there is none; `UsageError` where it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder `{path.as_posix()}` cannot be made: {cause(error)}"
        raise UsageError(message, "name a place that can be written to") from error


def json_bytes(document: object) -> bytes:
    """A document as a file of JSON, for people to read."""
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return text.encode(errors="backslashreplace")  # a lone surrogate has no other form


def write_folder(folder: Path, files: Mapping[PurePosixPath, bytes]) -> None:
    """Write files into a folder, which is made if need be: all of them, or where that fails none."""
    make_folder(folder)
    try:
        kept = Path(tempfile.mkdtemp(prefix=".turnout-", dir=folder))  # on one disk with the folder, to be moved there
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        for file, data in files.items():
            (kept / file).parent.mkdir(parents=True, exist_ok=True)
            (kept / file).write_bytes(data)
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
        for file in files:
            (kept / file).replace(folder / file)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(kept, ignore_errors=True)


def _unwritable(folder: Path, error: OSError) -> UsageError:
    message = f"the folder `{folder.as_posix()}` cannot be written to: {cause(error)}"
    return UsageError(message, "name a place that can be written to")
