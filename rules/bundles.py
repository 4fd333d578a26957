"""Where an agent's files are, behind one port: a folder, or files that are in memory.

`zips` has the third: a zip.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Protocol

from .errors import LoadError, Problem, cause


class Bundle(Protocol):
    """The files of an agent; paths are relative to what holds them."""

    word: str
    """What holds the files, in messages: `folder`, `zip`."""
    name: str
    """What holds the files, as problems name it."""
    problems: list[Problem]
    """What cannot be looked into."""

    def entries(self) -> Iterator[tuple[PurePosixPath, str]]:
        """All that is there, what stands at the top first, and why it is no plain file; empty for one that is."""

    def read(self, file: PurePosixPath) -> bytes:
        """The bytes of a plain file; raises `LoadError`."""


class FolderBundle:
    """A folder, or `names` in it only. What is hidden is left out, and links are not followed."""

    word = "folder"

    def __init__(self, root: Path, names: Iterable[str] | None = None) -> None:
        self.name = root.as_posix()
        self.problems: list[Problem] = []
        self._root = root
        self._names = None if names is None else [PurePosixPath(name) for name in names if is_inside(name)]

    def entries(self) -> Iterator[tuple[PurePosixPath, str]]:
        """As the port says; raises `LoadError` for a folder that cannot be looked into."""
        return self._walked() if self._names is None else self._named(self._names)

    def read(self, file: PurePosixPath) -> bytes:
        """As the port says."""
        try:
            return plain_bytes(self._root / file)
        except OSError as error:
            place = (self._root / file).as_posix()
            raise LoadError([Problem(code="A001", message=reason("file", error), file=place)]) from error

    def _walked(self) -> Iterator[tuple[PurePosixPath, str]]:
        waiting = [PurePosixPath()]
        for here in waiting:  # it grows meanwhile
            try:
                entries = sorted(os.scandir(self._root / here), key=lambda entry: entry.name)
            except (OSError, ValueError) as error:  # a NUL in the name
                self._refused(here, error)
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                folder = entry.is_dir(follow_symlinks=False)
                if folder:
                    waiting.append(here / entry.name)
                plain = entry.is_file(follow_symlinks=False)
                odd = "" if plain else LINK if entry.is_symlink() else "a folder" if folder else "no plain file"
                yield here / entry.name, odd

    def _named(self, files: Iterable[PurePosixPath]) -> Iterator[tuple[PurePosixPath, str]]:
        for file in files:
            if any((self._root / part).is_symlink() for part in self._there(file)):
                yield file, LINK
            elif is_plain(self._root / file):
                yield file, ""

    def _there(self, file: PurePosixPath) -> Iterator[PurePosixPath]:
        """What exists of a path, from its top."""
        for part in reversed((file, *file.parents)):
            if not os.path.lexists(self._root / part):
                return
            yield part

    def _refused(self, folder: PurePosixPath, error: OSError | ValueError) -> None:
        hint, message = "", reason("folder", error)
        if isinstance(error, NotADirectoryError) and begins_as_zip(self._root):
            hint, message = "let its name end in `.zip`", "this is a zip"
        elif not folder.name:
            hint = "name the folder that holds the agent's `.agent.json`"
        place = (self._root / folder).as_posix()
        problem = Problem(code="A001", message=message, file=place, hint=hint)
        if not folder.name:
            raise LoadError([problem]) from error
        if problem not in self.problems:  # it may be walked again
            self.problems.append(problem)


class MemoryBundle:
    """Files that stand nowhere yet, by their names."""

    word = "folder"

    def __init__(self, name: str, files: Mapping[PurePosixPath, bytes]) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self._files = files

    def entries(self) -> Iterator[tuple[PurePosixPath, str]]:
        """As the port says."""
        return ((file, "") for file in sorted(self._files, key=lambda file: (len(file.parts), file)))

    def read(self, file: PurePosixPath) -> bytes:
        """As the port says."""
        return self._files[file]


MOST_BYTES = 64 * 2**20
"""How large a file may be; a zip, and all together that is read from it, too."""

ZIP = b"PK\3\4"
"""What a zip begins with."""

LINK = "a link, and links are not followed"
"""Why a link is no plain file."""


def is_folder(path: Path) -> bool:
    """Whether a folder is there; False where that cannot be found out, which reading or writing tells."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_plain(path: Path) -> bool:
    """Whether a plain file is there, be it by a link; as `is_folder`."""
    try:
        return path.is_file()
    except OSError:
        return False


def plain_bytes(path: Path) -> bytes:
    """The bytes of a plain file; raises `OSError`, also for anything else and for one that is too large."""
    kind = path.stat().st_mode
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):  # to open a pipe may take for ever
        raise OSError(errno.EINVAL, "it is no plain file")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, "it is too large")
    return data


def begins_as_zip(path: Path) -> bool:
    """Whether a file begins as a zip does, whatever its name."""
    try:
        with path.open("rb") if is_plain(path) else BytesIO() as file:
            return file.read(len(ZIP)) == ZIP
    except OSError:
        return False


def is_inside(address: str) -> bool:
    """Whether a file name stays in the folder it is read from."""
    path = PurePosixPath(address.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in address and "\0" not in address


def reason(what: str, error: OSError | ValueError) -> str:
    """Why a file or folder cannot be read, in words."""
    if isinstance(error, FileNotFoundError):
        return f"there is no such {what}"
    if isinstance(error, NotADirectoryError):
        return "this is not a folder"
    if isinstance(error, PermissionError):
        return f"the {what} may not be read"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return f"the {what} is too large: it has more than {MOST_BYTES // 2**20} MiB"
    return f"the {what} cannot be read: {cause(error) if isinstance(error, OSError) else error}"
