"""Reading and writing the files that a user names."""

import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ..rules.bundles import ZIP, plain_bytes, reason
from ..rules.errors import LoadError, Problem, UsageError, cause


def texts_in(folder: Path) -> list[Path]:
    """The texts in a folder and in the folders in it, sorted, without what is hidden there."""
    return sorted(file for file in folder.rglob("*.turnout") if file.is_file() and not is_hidden(file, folder))


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a path in a folder is hidden there, or stands in something that is."""
    return any(part[0] == "." for part in path.relative_to(folder).parts)


def read_file(path: Path) -> bytes:
    """The bytes of a plain file; `LoadError` where it cannot be read, is too large or is a zip without its name."""
    try:
        data = plain_bytes(path)
    except OSError as error:
        if isinstance(error, IsADirectoryError):
            hint, message = "name a file in it", "this is a folder, not a file"
        else:
            hint, message = "", reason("file", error)
        raise LoadError([Problem(code="A001", message=message, file=path.as_posix(), hint=hint)]) from error
    except ValueError as error:  # a NUL in the name
        raise LoadError([Problem(code="A001", message=str(error), file=ascii(path.as_posix()))]) from error
    if data.startswith(ZIP):
        hint = "let its name end in `.zip`"
        raise LoadError([Problem(code="A001", message="this is a zip", file=path.as_posix(), hint=hint)])
    return data


def is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file, be it by a link; False where there is none."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def write_file(path: Path, data: bytes) -> None:
    """Write a file anew, or where that fails leave it as it was; `UsageError` then. See `write_files`."""
    write_files({path: data})


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write files anew: all of them, or where that fails none, and `UsageError` is raised.

    A file that is there keeps its permissions, and a link stays one: what it leads to is written.
    """
    kept: dict[Path, Path] = {}
    try:
        for path, data in files.items():
            with _told(path):
                target = Path(os.path.realpath(path))
                beside = target.with_name(f".turnout-{secrets.token_hex(8)}")  # on one disk with it, to be moved there
                mode = _mode(target)
                kept[beside] = path
                _write_through(beside, data)
                if mode is not None:
                    beside.chmod(mode)
        for beside, path in kept.items():
            with _told(path):
                beside.replace(os.path.realpath(path))
    finally:
        for beside in kept:
            beside.unlink(missing_ok=True)


def _mode(target: Path) -> int | None:
    """The permissions of a file, None where there is none; `OSError` for one that may not be written over."""
    try:
        with target.open("r+b") as there:
            return stat.S_IMODE(os.fstat(there.fileno()).st_mode)
    except FileNotFoundError:
        return None


def _write_through(file: Path, data: bytes) -> None:
    """Write a new file, down to the disk."""
    with file.open("xb") as new:
        new.write(data)
        new.flush()
        os.fsync(new.fileno())


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"`{path.as_posix()}` cannot be written: {cause(error)}"
        raise UsageError(message, "name a place that can be written to") from error


def json_bytes(document: object) -> bytes:
    """A document as a file of JSON, for people to read."""
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return text.encode(errors="backslashreplace")  # a lone surrogate has no other form


def write_folder(folder: Path, files: Mapping[PurePosixPath, bytes]) -> None:
    """Write files into a folder, which is made if need be. See `write_files`."""
    for inner in dict.fromkeys(file.parent for file in files):
        try:
            (folder / inner).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder `{(folder / inner).as_posix()}` cannot be made: {cause(error)}"
            raise UsageError(message, "name a place that can be written to") from error
    write_files({folder / file: data for file, data in files.items()})
