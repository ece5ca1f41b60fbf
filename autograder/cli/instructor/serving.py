"""`autograder serve`: start the service, write tokens, check the prerequisites."""

from __future__ import annotations

import csv
import io
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...batch.cluster import Cluster
from ...model.course import Course
from ...model.device_axes import axis
from ...model.errors import KitError
from ...nbgrader.gradebook.database import read_gradebook
from ...nbgrader.workspace import Workspace
from ...sandbox import SandboxError, choose
from ...serve.auth.accounts import Accounts, Role, is_name
from ...serve.disclosure.leak_bound import most_bits
from ...serve.grading_service import DATABASE
from ...serve.shared_state import Settings
from ...serve.start import Address, hub_address, require_encryption, run
from ...serve.tables import open_database
from ...terminal.console import terminal
from ..output import write_output

Finding = tuple[bool, str, str]  # ok, finding, how to fix it
_MIN_DISK = 2 << 30  # bytes that a class may fill


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
    """Serve until interrupted; raise KitError if the service cannot start."""
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


def _database_url(course: Course, database: str) -> str:
    return database or f"sqlite:///{course.state / DATABASE}"


def write_tokens(
    course: Course, database: str, out: Path, students: Sequence[str], instructors: Sequence[str]
) -> None:
    """Write tokens for the named people, or for each student of the gradebook without one.

    Named people are signed out on all their machines.
    """
    people = Accounts(open_database(_database_url(course, database)))
    for name in (*students, *instructors):
        if not is_name(name):
            raise KitError(f"{name!r} is not a valid user name: use letters, digits and . @ - _")
    named: list[tuple[str, Role]] = [(s, "student") for s in students]
    named += [(i, "instructor") for i in instructors]
    have_token = people.names_with_token()
    enrolled, _ = read_gradebook(course)
    fresh = [s for s in enrolled if s not in have_token and is_name(s)]
    wanted: list[tuple[str, Role]] = named or [(s, "student") for s in fresh]
    if not wanted:
        raise KitError(
            "no students without a token: import a class list with `autograder roster class.csv`, "
            "or create tokens with --student NAME or --instructor NAME"
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
    write_output(out, text.getvalue().encode())
    print(f"{len(wanted)} tokens in {out}: give each person their own; each works once")


def check_service(course: Course, address: Address, database: str, sandbox: str) -> bool:
    """Print the findings; return whether a service can run here."""
    console = terminal(soft_wrap=True)
    all_ok = True
    for ok, what, fix in _findings(course, address, database, sandbox):
        console.print(f"  {'ok' if ok else '--'}   {what}")
        if not ok:
            all_ok = False
            console.print(f"       {fix}")
    for line in _disclosure(course):
        console.print(f"       {line}")
    return all_ok


def _findings(course: Course, address: Address, database: str, sandbox: str) -> Iterator[Finding]:
    try:
        yield True, f"sandbox: {choose(None if sandbox == 'auto' else sandbox).name}", ""
    except (SandboxError, KitError) as error:
        yield False, "sandbox: none works here", f"{error}; see `autograder doctor`"
    students, tokens = list[str](), set[str]()
    try:
        engine = open_database(_database_url(course, database))
        yield True, f"database: {engine.dialect.name}", ""
        students, tokens = list(read_gradebook(course)[0]), set(Accounts(engine).names_with_token())
        engine.dispose()
    except KitError as error:
        yield False, "database", str(error)
    weeks = [w.name for w in course.weeks if Workspace(course).released(w).is_dir()]
    released = f"released weeks: {', '.join(weeks) or 'none'}"
    yield bool(weeks), released, "run `autograder release week01` so that students can submit"
    if not address.hub:
        found = f"students in the gradebook: {len(students)}"
        yield bool(students), found, "run `autograder roster class.csv` to add them"
        found = f"people with a token: {len(tokens)}"
        yield bool(tokens), found, "run `autograder serve --tokens tokens.csv` to create tokens"
    yield _port(address)
    try:
        require_encryption(address)
        yield True, f"address: {address.url}", ""
    except KitError as error:
        yield False, f"address: {address.url}", str(error)
    inbound = Workspace(course).exchange / course.id / "inbound"
    yield True, f"exchange: {inbound if inbound.is_dir() else 'created by the first release'}", ""
    free = shutil.disk_usage(course.root).free
    disk = f"disk: {free / 2**30:.1f} GiB free"
    yield free > _MIN_DISK, disk, "free some space: submissions are stored there"


def _port(address: Address) -> Finding:
    with socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((address.host, address.port))
        except OSError as error:
            what = f"port: {address.host}:{address.port}: {error.strerror}"
            return False, what, "choose a different --port, or stop the program that uses it"
    return True, f"port: {address.host}:{address.port} is free", ""


def _disclosure(course: Course) -> Iterator[str]:
    """Describe the information in results, so that instructors can choose `tries`."""
    policy = course.registry.immediate
    yield (
        f"shown at once: {policy.show}, {policy.tries} results per {policy.per}, until "
        f"{policy.until}; the {course.registry.counts} submission counts"
    )
    for week in course.weeks:
        bits = most_bits(course, week)
        yield f"{week.name}: a result discloses at most {bits} bits about hidden inputs"
