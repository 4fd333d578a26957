"""Questions about values, laid out by their paths."""

from bisect import bisect_right, insort
from collections.abc import Mapping

from ..rules import paths
from ..rules import questions as q
from ..rules.values import JSON


class _Tests:
    """What is asked about the value at one path."""

    __slots__ = ("at_least", "below", "contains", "equals", "exists")

    def __init__(self) -> None:
        self.exists = 0
        self.equals: dict[str, int] = {}
        self.contains: list[tuple[str, int]] = []
        self.at_least: list[tuple[int, int]] = []
        self.below: list[tuple[int, int]] = []

    def add(self, value: JSON, true: list[int]) -> None:
        if value is None:
            return
        if self.exists and paths.matches(value, None, None):
            true.append(self.exists)
        if self.equals and not paths.is_container(value) and (atom := self.equals.get(paths.text(value))):
            true.append(atom)
        true.extend(atom for text, atom in self.contains if paths.contains(value, text))
        if self.at_least or self.below:
            size = paths.size(value)
            true.extend(atom for _, atom in self.at_least[: bisect_right(self.at_least, (size, 2**63))])
            true.extend(atom for bound, atom in self.below if size < bound)


class _Branch:
    """A place in the tree of all asked paths, with the tests of the path that ends there."""

    __slots__ = ("branches", "tests")

    def __init__(self) -> None:
        self.branches: dict[str, dict[int | None, _Branch]] = {}
        self.tests: _Tests | None = None


class ValueQuestions:
    """Questions about values, as a tree of their paths: what is not there is not looked into further."""

    def __init__(self) -> None:
        self._root = _Branch()
        self._calculated: dict[str, _Tests] = {}
        self.asked = False

    def place(self, question: q.Question, atom: int) -> None:
        """Lay out a question."""
        self.asked = True
        match question:
            case q.ValueExists(path=path):
                self._tests(path).exists = atom
            case q.ValueEquals(path=path, text=text):
                self._tests(path).equals[text] = atom
            case q.ValueContains(path=path, text=text):
                self._tests(path).contains.append((text, atom))
            case q.SizeAtLeast(path=path, size=size):
                insort(self._tests(path).at_least, (size, atom))
            case q.SizeBelow(path=path, size=size):
                self._tests(path).below.append((size, atom))
            case _:
                raise AssertionError(f"no place for {question!r}")

    def _tests(self, path: str) -> _Tests:
        segments = paths.split(path)
        if segments is None or paths.has_arithmetic(path):
            return self._calculated.setdefault(path, _Tests())
        branch = self._root
        for name, index in segments:
            branch = branch.branches.setdefault(name, {}).setdefault(index, _Branch())
        branch.tests = branch.tests or _Tests()
        return branch.tests

    def add(self, model: dict[str, JSON], true: list[int]) -> None:
        """Add the atoms that hold of `model`."""
        waiting: list[tuple[_Branch, JSON]] = [(self._root, model)]
        while waiting:
            branch, value = waiting.pop()
            if not isinstance(value, Mapping):
                continue
            fewer = value if len(value) < len(branch.branches) else branch.branches
            for name in fewer:
                for index, below in branch.branches.get(name, {}).items():
                    found = paths.enter(value, name, index)
                    if found is not None:
                        if below.tests is not None:
                            below.tests.add(found, true)
                        waiting.append((below, found))
        for path, tests in self._calculated.items():
            tests.add(paths.read(model, path), true)
