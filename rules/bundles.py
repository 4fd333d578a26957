"""Where an agent's files are, behind one port: a folder, or files that are in memory.

`zips` has the third: a zip.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
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
            return (self._root / file).read_bytes()
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
            elif (self._root / file).is_file():
                yield file, ""

    def _there(self, file: PurePosixPath) -> Iterator[PurePosixPath]:
        """What exists of a path, from its top."""
        for part in reversed((file, *file.parents)):
            if not os.path.lexists(self._root / part):
                return
            yield part

    def _refused(self, folder: PurePosixPath, error: OSError | ValueError) -> None:
        hint = "" if folder.name else "name the folder that holds the agent's `.agent.json`"
        place = (self._root / folder).as_posix()
        problem = Problem(code="A001", message=reason("folder", error), file=place, hint=hint)
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


LINK = "a link, and links are not followed"
"""Why a link is no plain file."""


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
    return f"the {what} cannot be read: {cause(error) if isinstance(error, OSError) else error}"
