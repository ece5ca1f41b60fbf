"""The command of the service that grades at hand-in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.device_axes import CHOICES_IN_WORDS
from ..model.errors import KitError
from .app import INSTRUCTORS, app


@app.command(rich_help_panel=INSTRUCTORS)
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    url: Annotated[
        str, typer.Option(help="The address people use; default: --host and --port.")
    ] = "",
    certificate: Annotated[
        Path | None, typer.Option(help="For https: the certificate with its chain, PEM.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="For https: its key, PEM.")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow other machines without https.")
    ] = False,
    hub: Annotated[
        bool, typer.Option("--hub", help="As a service that a JupyterHub starts.")
    ] = False,
    instructors: Annotated[
        list[str] | None,
        typer.Option(
            "--instructor", help="Who sees the class; with --hub also group:NAME. May be repeated."
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(help="Write a one-time token for each student here, CSV, and end. - prints."),
    ] = None,
    students: Annotated[
        list[str] | None,
        typer.Option("--student", help="With --tokens: new ones, for these students only."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Say what is missing for a service here, and end.")
    ] = False,
    database: Annotated[
        str, typer.Option("--db", help="postgresql+psycopg://user@host/database; default: a file.")
    ] = "",
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Grading processes; default: one per core."),
    ] = None,
    memory: Annotated[
        int | None, typer.Option(min=512, help="MiB for each; default: half of all, shared.")
    ] = None,
    niceness: Annotated[
        int,
        typer.Option("--nice", min=0, max=19, help="Niceness of grading: hand-ins go first."),
    ] = 10,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    sandbox: Annotated[str, typer.Option(help="auto, bubblewrap or landlock")] = "auto",
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler that does the grading.")
    ] = None,
    tls_ca: Annotated[str | None, typer.Option(help="With tls://: the authority, PEM.")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="With tls://: your certificate.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="With tls://: its key.")] = None,
) -> None:
    """Grade at hand-in: a web page, `autograder submit` and nbgrader's exchange, until Ctrl-C.

    What students are told at once, and how often, stands in course.yaml (`immediate`).

    Example: autograder serve --check
    Example: autograder serve --tokens tokens.csv
    Example: autograder serve --url https://grade.example.org/
    """
    from ..model.course.loader import load

    course = load()
    if sandbox == "none":
        raise KitError("a service grades strangers' code: --sandbox none is refused")
    if students and tokens is None:
        raise KitError("--student goes with --tokens")
    if (certificate is None) != (key is None):
        raise KitError("--certificate and --key go together")
    if cluster is not None and jobs is not None:
        raise KitError("--jobs is for this machine; on a cluster each worker grades one at a time")
    from ..serve.start import Address
    from .show.instructor.serving import run_check, run_service, write_tokens

    address = Address(host, port, url, certificate, key, insecure, hub)
    if tokens is not None:
        write_tokens(course, database, tokens, students or [], instructors or [])
        return
    if check:
        if not run_check(course, address, database, sandbox):
            raise typer.Exit(1)
        return
    from ..batch.cluster import cluster_at

    run_service(
        course,
        address,
        database=database,
        jobs=jobs,
        memory=memory,
        niceness=niceness,
        device=device,
        sandbox=sandbox,
        cluster=cluster_at(cluster, tls_ca, tls_cert, tls_key) if cluster else None,
        instructors=tuple(instructors or ()),
    )
