"""Python files that bring tasks: somebody else's code, which may raise whatever it likes."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import TypeGuard

from ..engine.tasks import Task
from ..rules.authored import step_task
from ..rules.errors import UsageError, cause


def tasks_from_files(paths: Iterable[Path]) -> list[Task]:
    """Run Python files and collect the tasks that their modules hold by name.

    Raises `UsageError` where one cannot be read, does not run through or holds no task, or where two tasks have
    one id.
    """
    found: dict[str, tuple[Task, str]] = {}
    for path in paths:
        for task in _tasks(path):
            name, known_as = path.as_posix(), step_task(task.id)
            if (other := found.get(known_as)) is not None and other[0] is not task:
                where = f"file `{name}` holds" if other[1] == name else f"files `{other[1]}` and `{name}` hold"
                raise UsageError(f"the tasks {where} two tasks with the id `{known_as}`", "rename one of them")
            found[known_as] = (task, name)
    return [task for task, _ in found.values()]


def is_task(value: object) -> TypeGuard[Task]:
    """Whether a value is a task. What its `id` or `type` raises goes on; what has no `execute` is not asked."""
    try:
        runs = not isinstance(value, type) and callable(getattr(value, "execute", None))
    except Exception:  # noqa: BLE001 - a proxy or the like, which is no task
        return False
    return runs and all(isinstance(getattr(value, name, None), str) for name in ("id", "type"))


def words(error: BaseException) -> str:
    """Class and message of an exception, whose message may fail itself."""
    name = type(error).__name__
    try:
        return f"{name}: {error}".rstrip(": ")
    except Exception:  # noqa: BLE001 - somebody else's `__str__`
        return name


def _tasks(path: Path) -> list[Task]:
    name = path.as_posix()
    code = _compiled(path, name)
    module = ModuleType(f"tasks of {name}")  # no name that an import could mean
    module.__file__ = name
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(code, module.__dict__)  # noqa: S102 - it is what the user asked for by naming the file
        held = dict(vars(module))
        found = {id(value): value for value in held.values() if is_task(value)}
    except KeyboardInterrupt:
        raise
    except UsageError as error:
        raise UsageError(f"the tasks file `{name}`{_line_in(name, error)}: {error.message}", error.hint) from error
    except BaseException as error:  # somebody else's code, whatever it raises
        raise UsageError(f"the tasks file `{name}` stopped with {words(error)}{_line_in(name, error)}") from error
    if not found:
        raise UsageError(f"the tasks file `{name}` holds no task", _advice(held, module.__name__))
    return list(found.values())


def _compiled(path: Path, name: str) -> CodeType:
    try:
        source = path.read_bytes()
        if b"\0" in source:
            raise UsageError(f"the tasks file `{name}` is no Python: it holds a NUL byte", "name a Python file")
        return compile(source, name, "exec", dont_inherit=True)
    except OSError as error:
        raise UsageError(f"the tasks file `{name}` cannot be read: {cause(error)}", "name a Python file") from error
    except SyntaxError as error:
        said = error.msg.partition(" (")[0]
        raise UsageError(f"the tasks file `{name}` is no Python, line {error.lineno}: {said}") from error
    except (MemoryError, RecursionError) as error:
        raise UsageError(f"the tasks file `{name}` is nested too deep", "split its expressions") from error
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"the tasks file `{name!a}` cannot be read: {error}", "name a Python file") from error


def _advice(held: Mapping[str, object], module: str) -> str:
    """What to do in a file without a task: a class may only want to be called."""
    for name, value in held.items():
        if isinstance(value, type) and value.__module__ == module and callable(getattr(value, "execute", None)):
            return f"the class `{name}` is not a task, but what it makes may be: add `{name.lower()} = {name}()`"
    return 'make one of a function with `@task("its-id")` from `turnout.engine.tasks`'


def _line_in(name: str, error: BaseException) -> str:
    """The line of the file that the error came out of."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f", line {line}" if line else ""
