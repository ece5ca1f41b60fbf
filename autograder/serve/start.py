"""Start the service: one per project at a time, until SIGINT or SIGTERM."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvicorn

from ..model.course import Course
from ..model.errors import KitError
from .grading_service import Service
from .login import Login, session_cookie
from .shared_state import Settings
from .views.routes import application

_LOCK = "serve.lock"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SHUTDOWN_SECONDS = 3  # for open requests


class Address(msgspec.Struct, frozen=True):
    """The address on which the service listens, and its public URL."""

    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str = ""  # default: host and port
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False
    hub: bool = False

    @property
    def secure(self) -> bool:
        return self.certificate is not None or urlsplit(self.public_url).scheme == "https"

    @property
    def prefix(self) -> str:
        path = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/") if self.hub else ""
        path = path or urlsplit(self.public_url).path
        return f"/{path.strip('/')}/" if path.strip("/") else "/"

    @property
    def url(self) -> str:
        scheme = "https" if self.secure else "http"
        return self.public_url or f"{scheme}://{self.host}:{self.port}{self.prefix}"


def hub_address(address: Address) -> Address:
    """Return the address that a JupyterHub assigned to its service; raise KitError."""
    assigned = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", ""))
    if not assigned.hostname or not os.environ.get("JUPYTERHUB_API_TOKEN"):
        raise KitError(
            "--hub is for a service that JupyterHub starts: c.JupyterHub.services in its "
            "jupyterhub_config.py (docs/operator.md)"
        )
    if not os.environ.get("JUPYTERHUB_HOST"):
        raise KitError(
            "--hub needs a Hub that gives each user a subdomain; otherwise a student's notebook "
            "server can act as anyone who opens one of its pages. Set c.JupyterHub.subdomain_host "
            "in jupyterhub_config.py (docs/operator.md)"
        )
    return msgspec.structs.replace(address, host=assigned.hostname, port=assigned.port or 80)


def require_encryption(address: Address) -> None:
    """Raise KitError if tokens and submissions would be sent over plain HTTP."""
    if address.host in _LOOPBACK or address.secure or address.insecure or address.hub:
        return
    raise KitError(
        f"without https, others can read the traffic to {address.host}: set --certificate and "
        "--key, or listen on 127.0.0.1 behind a proxy and set --url https://…; use --insecure only "
        "on a private network"
    )


def run(course: Course, settings: Settings, address: Address) -> None:
    """Serve until SIGINT or SIGTERM; raise KitError if the service cannot be started."""
    settings = msgspec.structs.replace(
        settings,
        prefix=address.prefix,
        secure=address.secure,
        address=urlsplit(address.public_url).netloc,
    )
    _allow_many_connections()
    with _project_lock(course), _listening(address) as listener:
        service = Service(course, settings)

        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[None]:
            async with service.running():
                print(f"{course.title}: {address.url}  (stop with Ctrl-C)", flush=True)
                yield

        behind_proxy = bool(address.public_url) or address.hub
        config = uvicorn.Config(
            application(service, _login(service, address), lifespan),
            http="h11",
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=address.host in _LOOPBACK and behind_proxy,
            forwarded_allow_ips="127.0.0.1",
            timeout_keep_alive=15,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            backlog=1024,
            ssl_certfile=address.certificate,
            ssl_keyfile=address.key,
        )
        try:
            config.load()
        except (OSError, ssl.SSLError) as error:
            raise KitError(f"--certificate: it cannot be used: {error}") from None
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _login(service: Service, address: Address) -> Login:
    cookie = session_cookie(address.prefix, secure=address.secure, own_host=address.hub)
    if not address.hub:
        return Login(service.accounts, cookie, address.prefix)
    from .login import HubLogin

    return HubLogin(service.accounts, cookie, address.prefix, service.settings.instructors)


def _allow_many_connections() -> None:
    # browsers keep connections open, and the default limit is often 1024
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))


@contextmanager
def _project_lock(course: Course) -> Iterator[None]:
    with (course.state / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise KitError("a service of this project is running already: stop it first") from None
        yield


def _listening(address: Address) -> socket.socket:
    """Return a listening socket, so that a port in use is reported before anything is written."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        where = f"{address.host}:{address.port}"
        raise KitError(f"cannot listen on {where}: {os.strerror(error.errno or 0)}") from None
