"""The service's settings, and the objects that all its parts share."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ..batch.cluster import Cluster
from .courses import Courses
from .incidents import Incidents
from .queue.queue import Queue


class Settings(msgspec.Struct, frozen=True):
    """The settings of the service."""

    prefix: str = "/"  # prefix of every path
    secure: bool = False  # reached over https
    address: str = ""  # host and port that browsers use
    database: str = ""  # a URL; default: a file in the project's private folder
    processes: int = 0  # default: one per core
    process_mib: int = 0  # default: half of the memory, divided among the processes
    niceness: int = 10  # of grading processes
    devices: tuple[str, ...] = ("cpu",)
    sandbox: str = "bubblewrap"
    cluster: Cluster | None = None
    instructors: tuple[str, ...] = ()  # on a JupyterHub: NAME or group:NAME


@dataclass(frozen=True)
class SharedState:
    """The shared objects of a service."""

    settings: Settings
    courses: Courses
    queue: Queue
    incidents: Incidents
