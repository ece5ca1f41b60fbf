"""`serve`: run the grading service, create tokens, or check whether the service can run here."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ...model.availability import axis
from ...model.course import Course, load
from ...model.errors import KitError
from ...model.message_text import plural
from .. import options
from ..app import flag
from ..output import print_checks, write_output

if TYPE_CHECKING:
    from ...serve.login import Role
    from ...serve.shared_state import Address

_MIN_DISK = 2 << 30  # free bytes that the submissions of a class may need
Check = tuple[bool, str, str]  # ok, result, remedy


def serve(
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(min=1, max=65535)] = 8000,
    url: Annotated[str, Option(help="The public address; default: --host and --port.")] = "",
    certificate: Annotated[
        Path | None, Option(help="For https: a PEM file with the certificate and its chain.")
    ] = None,
    key: Annotated[Path | None, Option(help="For https: a PEM file with the key.")] = None,
    insecure: Annotated[
        bool, flag("insecure", "Accept connections from other machines without https.")
    ] = False,
    hub: Annotated[bool, flag("hub", "Run as a service that a JupyterHub starts.")] = False,
    instructors: Annotated[
        list[str] | None,
        Option(
            "--instructor",
            help="A user who may see the class; with --hub also group:NAME. May be repeated.",
        ),
    ] = None,
    assistants: Annotated[
        list[str] | None,
        Option(
            "--assistant",
            help="A user who may mark and answer requests; with --hub also group:NAME.",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        Option(help="Write a one-time token for each student to this CSV (-: stdout), and exit."),
    ] = None,
    students: Annotated[
        list[str] | None,
        Option("--student", help="With --tokens: only this student; may be repeated."),
    ] = None,
    check: Annotated[bool, flag("check", "Report whether the service can run here.")] = False,
    database: Annotated[
        str, Option("--db", help="postgresql+psycopg://user@host/database; default: SQLite.")
    ] = "",
    jobs: options.JobsOption = None,
    memory: Annotated[
        int | None,
        Option(min=512, help="MiB for each process; default: half of the memory, shared."),
    ] = None,
    niceness: Annotated[
        int, Option("--nice", min=0, max=19, help="Niceness of grading; pages have priority.")
    ] = 10,
    device: options.DeviceOption = "auto",
    sandbox: Annotated[str, Option(help="auto, bubblewrap or landlock")] = "auto",
    cluster: options.ClusterOption = None,
    tls_ca: options.TlsCaOption = None,
    tls_cert: options.TlsCertOption = None,
    tls_key: options.TlsKeyOption = None,
) -> bool:
    """Run the grading service until Ctrl-C is pressed.

    It accepts submissions on a web page, from `autograder submit` and through nbgrader's exchange.
    course.yaml (`immediate`) defines the results that students see at once, and how many.

    Example: autograder serve --check
    Example: autograder serve --tokens tokens.csv
    Example: autograder serve --url https://grade.example.org/
    """
    course = load()
    if sandbox == "none":
        raise KitError("--sandbox none is not allowed: the service grades other people's code")
    if students and tokens is None:
        raise KitError("--student needs --tokens")
    if (certificate is None) != (key is None):
        raise KitError("--certificate and --key must be used together")
    place = options.cluster_option(cluster, tls_ca, tls_cert, tls_key, jobs)
    from ...batch.grade import sandbox_name
    from ...serve.grading_service import DATABASE
    from ...serve.shared_state import Address, Settings
    from ...serve.start import hub_address, require_encryption, run

    address = Address(host, port, url, certificate, key, insecure, hub)
    if tokens is not None or check:
        database = database or f"sqlite:///{course.state / DATABASE}"
    if tokens is not None:
        named: list[tuple[str, Role]] = [(s, "student") for s in students or ()]
        named += [(a, "assistant") for a in assistants or ()]
        named += [(i, "instructor") for i in instructors or ()]
        _write_tokens(course, database, tokens, named)
        return True
    if check:
        all_ok = print_checks(_checks(course, address, database, sandbox))
        policy = course.registry.immediate
        print(
            f"       shown at once: {policy.show}, {policy.tries} results per {policy.per}, until "
            f"{policy.until}; the {course.registry.counts} submission counts"
        )
        return all_ok
    if hub:
        address = hub_address(address)
    require_encryption(address)
    settings = Settings(
        address=address,
        database=database,
        processes=jobs or 0,
        process_mib=memory or 0,
        niceness=niceness,
        devices=axis(device, here=place is None),
        sandbox=sandbox_name(sandbox, place),
        cluster=place,
        instructors=tuple(instructors or ()),
        assistants=tuple(assistants or ()),
    )
    run(course, settings)
    return True


def _write_tokens(
    course: Course, database: str, out: Path, named: Sequence[tuple[str, Role]]
) -> None:
    """Write tokens for the given users, or for each student in the gradebook without a token.

    Users who are named explicitly are signed out on all machines.
    """
    from ...lms.grade_files import csv_text
    from ...nbgrader.collect.inbound import is_name
    from ...nbgrader.gradebook.database import read_gradebook
    from ...serve.login import Accounts
    from ...serve.tables import open_database

    people = Accounts(open_database(database))
    for name, _ in named:
        if not is_name(name):
            raise KitError(f"{name!r} is not a valid user name: use letters, digits and . @ - _")
    have_token = people.names_with_token()
    enrolled, _ = read_gradebook(course)
    fresh = [s for s in enrolled if s not in have_token and is_name(s)]
    wanted: Sequence[tuple[str, Role]] = named or [(s, "student") for s in fresh]
    if not wanted:
        raise KitError(
            "no students without a token: import a class list with `autograder roster class.csv`, "
            "or create tokens with --student, --assistant or --instructor NAME"
        )
    for name, _ in named:
        people.revoke(name)  # the user may have lost a machine that is still signed in
    rows = [(name, role, people.create_token(name, role)) for name, role in wanted]
    text = csv_text([("name", "role", "token"), *rows]).replace("\r\n", "\n")
    if str(out) == "-":
        sys.stdout.write(text)
        return
    write_output(out, text.encode())
    print(f"wrote {plural(len(wanted), 'token')} to {out}: each token signs in its user once")


def _checks(course: Course, address: Address, database: str, sandbox: str) -> Iterator[Check]:
    from ...nbgrader.gradebook.database import read_gradebook
    from ...nbgrader.workspace import Workspace
    from ...sandbox import choose
    from ...serve.login import Accounts
    from ...serve.request_limits import listening
    from ...serve.start import require_encryption
    from ...serve.tables import open_database

    try:
        yield True, f"sandbox: {choose(None if sandbox == 'auto' else sandbox).name}", ""
    except KitError as error:
        yield False, "sandbox: none works here", f"{error}; see `autograder doctor`"
    students, tokens = list[str](), set[str]()
    try:
        engine = open_database(database)
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
    try:
        listening(address.host, address.port).close()
        yield True, f"port: {address.host}:{address.port} is free", ""
    except KitError as error:
        yield False, str(error), "choose a different --port, or stop the program that uses it"
    try:
        require_encryption(address)
        yield True, f"address: {address.url}", ""
    except KitError as error:
        yield False, f"address: {address.url}", str(error)
    free = shutil.disk_usage(course.root).free
    disk = f"disk: {free / 2**30:.1f} GiB free"
    yield free > _MIN_DISK, disk, "free some space: submissions are stored there"
