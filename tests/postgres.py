"""A PostgreSQL server for the tests: in a temporary folder, on a free port of this machine, where its programs are."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


def programs() -> Path | None:
    """The folder of the server's programs, the newest version first; None where there is none."""
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    if found:
        return max(found, key=lambda path: float(path.parent.name))
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


def reason_to_skip() -> str:
    """Why there can be no server; empty if there can be one."""
    if programs() is None:
        return "PostgreSQL's programs were not found (Debian: `apt-get install postgresql`)"
    if os.geteuid() == 0 and not _other_user():
        return "PostgreSQL does not run as root, and there is no user `postgres`"
    return ""


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The address of a new server without databases of ours; it ends, and is gone, with the context."""
    found = programs()
    assert found is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Not in a folder of pytest, which lets no other user in.
    with tempfile.TemporaryDirectory(prefix="turnout-postgres-") as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        data, log = Path(folder, "data"), Path(folder, "log")
        _run(found / "initdb", "-D", data, "-A", "trust", "-U", "turnout", "-E", "UTF8", "--no-sync")
        options = (
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off -c max_connections=200"
        )
        _run(found / "pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        try:
            yield f"postgresql://turnout@127.0.0.1:{port}"
        finally:
            _run(found / "pg_ctl", "-D", data, "-m", "immediate", "stop")


def _run(*command: str | Path) -> None:
    whole = [str(part) for part in command]
    if os.geteuid() == 0:
        whole = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *whole]
    # No pipe: the server would keep it open.
    subprocess.run(whole, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


def _other_user() -> bool:
    try:
        return bool(pwd.getpwnam("postgres")) and shutil.which("setpriv") is not None
    except KeyError:
        return False
