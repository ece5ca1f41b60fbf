"""`autograder serve` on a terminal."""

from __future__ import annotations

import csv
import io
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ....batch.cluster import Cluster
from ....files.atomic import replace_file
from ....model.course.loader import Course
from ....model.device_axes import axis
from ....model.errors import KitError
from ....nbgrader.gradebook.database import read_gradebook
from ....nbgrader.workspace import Workspace
from ....sandbox import SandboxError, choose
from ....serve.auth.accounts import Accounts, Role, is_name
from ....serve.disclosure.leak_bound import most_bits
from ....serve.grading_service import DATABASE
from ....serve.shared_state import Settings
from ....serve.start import Address, hub_address, require_encryption, run
from ....serve.tables import open_database
from ....terminal.console import terminal

Finding = tuple[bool, str, str]  # well, what was found, how to mend it
_ROOM = 2 << 30  # bytes of disk below which a class may fill it


def run_service(
    course: Course,
    address: Address,
    *,
    database: str,
    jobs: int | None,
    memory: int | None,
    niceness: int,
    device: str,
    sandbox: str,
    cluster: Cluster | None,
    instructors: tuple[str, ...],
) -> None:
    """Serve until it is ended; raises KitError if it cannot be started."""
    if address.hub:
        address = hub_address(address)
    require_encryption(address)
    if cluster is not None:
        chosen = "bubblewrap" if sandbox == "auto" else sandbox
    else:
        try:
            chosen = choose(None if sandbox == "auto" else sandbox).name
        except SandboxError as error:
            raise KitError(str(error)) from None
    settings = Settings(
        database=database,
        processes=jobs or 0,
        process_mib=memory or 0,
        niceness=niceness,
        devices=axis(device, here=cluster is None),
        sandbox=chosen,
        cluster=cluster,
        instructors=instructors,
    )
    run(course, settings, address)


def write_tokens(
    course: Course, database: str, out: Path, students: Sequence[str], instructors: Sequence[str]
) -> None:
    """A token for each student of the gradebook who has had none, or for those who are named.

    Whoever is named is signed out everywhere.
    """
    people = Accounts(open_database(database or f"sqlite:///{course.state / DATABASE}"))
    known, _ = read_gradebook(course)
    for name in (*students, *instructors):
        if not is_name(name):
            raise KitError(f"{name!r} is no name for nbgrader: use letters, digits and . @ - _")
    fresh = [s for s in known if s not in people.names_with_token() and is_name(s)]
    named: list[tuple[str, Role]] = [(s, "student") for s in students]
    named += [(i, "instructor") for i in instructors]
    wanted: list[tuple[str, Role]] = named or [(s, "student") for s in fresh]
    if not wanted:
        raise KitError(
            "there is nobody to give a token to: `autograder roster class.csv` makes students "
            "known; --student NAME gives a new one, --instructor NAME one that sees the class"
        )
    for name, _ in named:
        people.revoke(name)  # a machine may be lost
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("name", "role", "token"))
    rows.writerows((name, role, people.create_token(name, role)) for name, role in wanted)
    if str(out) == "-":
        sys.stdout.write(text.getvalue())
        return
    try:
        replace_file(out, text.getvalue().encode())
    except OSError as error:
        raise KitError(f"{out}: cannot be written: {error.strerror}") from None
    print(f"{len(wanted)} tokens in {out}: give each person theirs; each works once")


def run_check(course: Course, address: Address, database: str, sandbox: str) -> bool:
    """Print what is there and what is missing; return whether a service can run here."""
    console = terminal(soft_wrap=True)
    fine = True
    for well, what, mend in _findings(course, address, database, sandbox):
        console.print(f"  {'ok' if well else '--'}   {what}")
        if not well:
            fine = False
            console.print(f"       {mend}")
    for line in _bits(course):
        console.print(f"       {line}")
    return fine


def _findings(course: Course, address: Address, database: str, sandbox: str) -> Iterator[Finding]:
    try:
        yield True, f"sandbox: {choose(None if sandbox == 'auto' else sandbox).name}", ""
    except (SandboxError, KitError) as error:
        yield False, "sandbox: none works here", f"{error}; see `autograder doctor`"
    try:
        engine = open_database(database or f"sqlite:///{course.state / DATABASE}")
        yield True, f"database: {engine.dialect.name}", ""
        known, tokens = read_gradebook(course)[0], Accounts(engine).names_with_token()
        engine.dispose()
    except KitError as error:
        yield False, "database", str(error)
        known, tokens = [], set()
    out = [w.name for w in course.weeks if Workspace(course).released(w).is_dir()]
    yield (
        bool(out),
        f"weeks that are out: {', '.join(out) or 'none'}",
        ("`autograder release week01` lets students hand in"),
    )
    if not address.hub:
        yield (
            bool(known),
            f"students in the gradebook: {len(known)}",
            ("`autograder roster class.csv` makes them known"),
        )
        yield (
            bool(tokens),
            f"people with a token: {len(tokens)}",
            ("`autograder serve --tokens tokens.csv` writes one for each student"),
        )
    yield _port(address)
    try:
        require_encryption(address)
        yield True, f"address: {address.url}", ""
    except KitError as error:
        yield False, f"address: {address.url}", str(error)
    inbound = Workspace(course).exchange / course.id / "inbound"
    watched = str(inbound) if inbound.is_dir() else "none yet: a release makes it"
    yield True, f"exchange: {watched}", ""
    free = shutil.disk_usage(course.root).free
    yield free > _ROOM, f"disk: {free / 2**30:.1f} GiB free", "make room: hand-ins are kept there"


def _port(address: Address) -> Finding:
    with socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((address.host, address.port))
        except OSError as error:
            what = f"port: {address.host}:{address.port}: {error.strerror}"
            return False, what, "choose another with --port, or end what listens there"
    return True, f"port: {address.host}:{address.port} is free", ""


def _bits(course: Course) -> Iterator[str]:
    """What a try gives away at most, so that `tries` can be chosen with open eyes."""
    policy = course.registry.immediate
    yield (
        f"told at once: {policy.show}, {policy.tries} results per {policy.per}, until "
        f"{policy.until}; the {course.registry.counts} submission counts"
    )
    for week in course.weeks:
        bits = most_bits(course, week)
        yield f"{week.name}: a result tells at most {bits} bits of what a submission saw"
