"""Declare the arguments and options that several instructors' and authors' commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..model.availability import CHOICES_IN_WORDS
from ..model.course import Course, Week, load
from ..model.errors import KitError

if TYPE_CHECKING:
    from ..batch.cluster import Cluster


def _complete_week(incomplete: str) -> list[str]:
    try:
        return [w.name for w in load(unfinished=True).weeks if w.name.startswith(incomplete)]
    except KitError:
        return []


WeekArgument = Annotated[
    str, Argument(help="A week: its name or number.", autocompletion=_complete_week)
]
JobsOption = Annotated[int | None, Option(min=1, help="Processes to use; default: one per core.")]
DeviceOption = Annotated[str, Option(help=f"{CHOICES_IN_WORDS}.")]
UnmarkedOption = Annotated[
    bool, Option("--unmarked", help="Continue even if written answers are not marked yet.")
]
ClusterOption = Annotated[
    str | None,
    Option(metavar="ADDRESS", help="A Dask scheduler: tcp://host:8786 or tls://host:8786."),
]
TlsCaOption = Annotated[
    str | None, Option(help="With tls://: a PEM file with the certificate authority.")
]
TlsCertOption = Annotated[str | None, Option(help="With tls://: a PEM file with your certificate.")]
TlsKeyOption = Annotated[str | None, Option(help="With tls://: a PEM file with its key.")]


def cluster_option(
    address: str | None, ca: str | None, cert: str | None, key: str | None, jobs: int | None
) -> Cluster | None:
    """Return the cluster at `address`, if any; raise KitError if the options conflict."""
    from ..batch.cluster import cluster_at

    if address is None:
        if ca or cert or key:
            raise KitError("--tls-ca, --tls-cert and --tls-key need --cluster tls://host:8786")
        return None
    if jobs is not None:
        raise KitError(
            "--jobs cannot be combined with --cluster: each worker of a cluster grades one "
            "submission at a time"
        )
    return cluster_at(address, ca, cert, key)


def find_week(name: str) -> tuple[Course, Week]:
    """Load the course and find a week by name or number; raise KitError if it does not exist."""
    course = load()
    return course, course.week(name)
