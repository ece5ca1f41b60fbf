"""The command `serve`: a service that grades at submission."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.device_axes import CHOICES_IN_WORDS
from ..model.errors import KitError
from .app import INSTRUCTORS, ClusterOption, TlsCaOption, TlsCertOption, TlsKeyOption, app


@app.command(rich_help_panel=INSTRUCTORS)
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    url: Annotated[str, typer.Option(help="The public address; default: --host and --port.")] = "",
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
            "--instructor", help="May see the class; with --hub also group:NAME. May be repeated."
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(help="Write a one-time token for each student to this CSV, or -, and exit."),
    ] = None,
    students: Annotated[
        list[str] | None,
        typer.Option("--student", help="With --tokens: new tokens for these students only."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Report whether a service can run here, and exit.")
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
        typer.Option("--nice", min=0, max=19, help="Niceness of grading, so that pages go first."),
    ] = 10,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    sandbox: Annotated[str, typer.Option(help="auto, bubblewrap or landlock")] = "auto",
    cluster: ClusterOption = None,
    tls_ca: TlsCaOption = None,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
) -> bool:
    """Grade at submission, until Ctrl-C: a web page, `autograder submit` and nbgrader's exchange.

    course.yaml (`immediate`) defines what students see at once, and how often.

    Example: autograder serve --check
    Example: autograder serve --tokens tokens.csv
    Example: autograder serve --url https://grade.example.org/
    """
    from ..model.course import load

    course = load()
    if sandbox == "none":
        raise KitError("--sandbox none is refused: a service grades other people's code")
    if students and tokens is None:
        raise KitError("--student needs --tokens")
    if (certificate is None) != (key is None):
        raise KitError("--certificate and --key need each other")
    if cluster is not None and jobs is not None:
        raise KitError("--jobs is for this machine; a cluster's workers grade one at a time each")
    from ..serve.start import Address
    from .instructor.serving import check_service, run_service, write_tokens

    address = Address(host, port, url, certificate, key, insecure, hub)
    if tokens is not None:
        write_tokens(course, database, tokens, students or [], instructors or [])
        return True
    if check:
        return check_service(course, address, database, sandbox)
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
    return True
