"""Start a PostgreSQL server with a password for one test; `make e2e` runs tests that need it."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SERVERS = [*Path("/usr/lib/postgresql").glob("*/bin"), *map(Path, os.get_exec_path())]
SERVER = next((p for p in SERVERS if (p / "initdb").exists() and (p / "postgres").exists()), None)
NEEDS = [
    pytest.mark.skipif(not os.environ.get("AUTOGRADER_E2E"), reason="`make e2e` runs it"),
    pytest.mark.skipif(SERVER is None, reason="no PostgreSQL: sudo apt-get install postgresql"),
    pytest.mark.skipif(
        importlib.util.find_spec("psycopg") is None, reason="pip install -e '.[postgres]'"
    ),
]


@dataclass
class Server:
    """A running PostgreSQL."""

    folder: Path
    password: str

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://teacher@/attention?host={self.folder / 'socket'}"

    def asked(self, query: str) -> str:
        assert SERVER is not None
        done = subprocess.run(
            [
                *(SERVER / "psql", "-h", self.folder / "socket", "-U", "teacher"),
                *("-Atc", query, "attention"),
            ],
            env={"PGPASSWORD": self.password},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()


def unprivileged(folder: Path) -> list[str]:
    """Return the command prefix and owner for PostgreSQL, because it refuses to run as root."""
    if os.geteuid() != 0:
        return []
    names = {u.pw_name: u for u in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    for path in (folder, *folder.iterdir()):
        os.chown(path, user.pw_uid, user.pw_gid)
    who = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
    return ["setpriv", *who]


@contextmanager
def postgres() -> Iterator[Server]:
    """Start a server with an empty database and stop it afterwards."""
    assert SERVER is not None
    folder = Path(tempfile.mkdtemp(prefix="autograder-postgres-"))  # short because of the socket
    found = Server(folder, secrets.token_urlsafe(18))
    (folder / "password").touch(mode=0o600)
    (folder / "password").write_text(found.password, encoding="utf-8")
    start_as = unprivileged(folder)

    def run(program: str, *arguments: str | Path, **more: Any) -> None:
        command = [*start_as, str(SERVER / program), *map(str, arguments)]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, **more)

    run("initdb", "-D", "data", "-U", "teacher", "-A", "scram-sha-256", "--no-sync",
        "--pwfile=password")  # fmt: skip
    subprocess.run([*start_as, "mkdir", "-m", "755", str(folder / "socket")], check=True)
    folder.chmod(0o755)
    options = f"-c listen_addresses='' -c fsync=off -k {folder / 'socket'}"
    run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")
    try:
        run("createdb", "-h", folder / "socket", "-U", "teacher", "attention",
            env={"PGPASSWORD": found.password})  # fmt: skip
        yield found
    finally:
        run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)
