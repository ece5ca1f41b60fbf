"""Starting the service: one for each project at a time, until it is told to end."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvicorn

from ..model.course.loader import Course
from ..model.errors import KitError
from .auth.login import Door, TokenDoor
from .service import Service, Settings
from .views.routes import application

_LOCK = "serve.lock"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_GRACE = 3  # seconds for what is being answered at the end


class Place(msgspec.Struct, frozen=True):
    """Where the service listens, and how it is reached."""

    host: str = "127.0.0.1"
    port: int = 8000
    url: str = ""  # by which people reach it; default: host and port
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False
    hub: bool = False

    @property
    def secure(self) -> bool:
        return self.certificate is not None or urlsplit(self.url).scheme == "https"

    @property
    def prefix(self) -> str:
        path = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/") if self.hub else ""
        path = path or urlsplit(self.url).path
        return f"/{path.strip('/')}/" if path.strip("/") else "/"

    @property
    def shown(self) -> str:
        scheme = "https" if self.secure else "http"
        return self.url or f"{scheme}://{self.host}:{self.port}{self.prefix}"


def place_on_hub(place: Place) -> Place:
    """The place that a JupyterHub assigned to its service."""
    given = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", ""))
    if not given.hostname or not os.environ.get("JUPYTERHUB_API_TOKEN"):
        raise KitError(
            "--hub is for a service that JupyterHub starts: c.JupyterHub.services in its "
            "jupyterhub_config.py (docs/operator.md)"
        )
    if not os.environ.get("JUPYTERHUB_HOST"):
        raise KitError(
            "--hub needs a Hub that gives each user a subdomain: otherwise a student's notebook "
            "server can act as whoever opens a page of it. Set c.JupyterHub.subdomain_host in "
            "jupyterhub_config.py (docs/operator.md)"
        )
    return msgspec.structs.replace(place, host=given.hostname, port=given.port or 80)


def refuse_in_the_clear(place: Place) -> None:
    """Tokens and work would cross the network readable by others on the way."""
    if place.host in _LOOPBACK or place.secure or place.insecure or place.hub:
        return
    raise KitError(
        f"on {place.host} without https others can read what is sent: give --certificate "
        "and --key, or listen on 127.0.0.1 behind a proxy and say --url https://…; --insecure is "
        "for a network that is yours alone"
    )


def run(course: Course, settings: Settings, place: Place) -> None:
    """Serve until SIGINT or SIGTERM; raises KitError if it cannot be started."""
    address = urlsplit(place.url).netloc
    settings = msgspec.structs.replace(
        settings, prefix=place.prefix, secure=place.secure, address=address
    )
    _many_connections()
    with _alone(course), _listening(place) as listener:
        service = Service(course, settings)
        door = door_of(service, place)

        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[None]:
            async with service.running():
                print(f"{course.title}: {place.shown}  (Ctrl-C ends it)", flush=True)
                yield

        config = uvicorn.Config(
            application(service, door, lifespan),
            http="h11",
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=place.host in _LOOPBACK and (bool(place.url) or place.hub),
            forwarded_allow_ips="127.0.0.1",
            timeout_keep_alive=15,
            timeout_graceful_shutdown=_GRACE,
            backlog=1024,
            **_tls(place),
        )
        _Server(config).run(sockets=[listener])


def door_of(service: Service, place: Place) -> Door:
    if not place.hub:
        return TokenDoor(service.people, place.prefix, secure=place.secure)
    from .auth.jupyterhub import HubDoor

    return HubDoor(service.people, place.prefix, service.settings.instructors, secure=place.secure)


class _Server(uvicorn.Server):
    """Ends by itself on SIGINT and SIGTERM: that is how a service is ended, and no failure."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _many_connections() -> None:
    """Everybody who looks at a page keeps one open; systems often allow no more than 1024."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def _alone(course: Course) -> Iterator[None]:
    """Hold the project's lock, which the kernel takes back from the dead."""
    import fcntl

    with (course.state / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise KitError("a service of this project is running already: end that one") from None
        yield


@contextmanager
def _listening(place: Place) -> Iterator[socket.socket]:
    """The socket, before anything else takes time or writes."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    with contextlib.closing(socket.socket(family)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((place.host, place.port))
        except OSError as error:
            where = f"{place.host}:{place.port}"
            raise KitError(f"{where} cannot be listened on: {error.strerror}") from None
        yield listener


def _tls(place: Place) -> dict[str, Any]:
    if place.certificate is None:
        return {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(place.certificate, place.key)
    except (OSError, ssl.SSLError) as error:
        raise KitError(f"--certificate: it cannot be used: {error}") from None
    return {"ssl_certfile": str(place.certificate), "ssl_keyfile": str(place.key)}
