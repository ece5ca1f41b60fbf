"""Start the service, at most once per project, and serve until SIGINT or SIGTERM."""

import contextlib
import os
import resource
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvicorn

from ..files import alone
from ..model.availability import LOOPBACK
from ..model.course import Course
from ..model.errors import KitError
from .grading_service import Service
from .login import HubLogin, Login, session_cookie
from .request_limits import http_config, listening
from .shared_state import Address, Settings
from .views.routes import application

_LOCK = "serve.lock"
_SHUTDOWN_SECONDS = 3  # time for open requests to finish


def hub_address(address: Address) -> Address:
    """Return the address with the host and port that JupyterHub assigned.

    Raise KitError if no Hub started this process, or if users of the Hub have no subdomains.
    """
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
    if address.host in LOOPBACK or address.secure or address.insecure or address.hub:
        return
    raise KitError(
        f"without https, others can read the traffic to {address.host}: set --certificate and "
        "--key, or listen on 127.0.0.1 behind a proxy and set --url https://…; use --insecure only "
        "on a private network"
    )


def run(course: Course, settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; raise KitError if the service cannot be started."""
    address = settings.address
    # browsers keep connections open, and the default limit of open files is often 1024
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))
    running = KitError("a service of this project is running already: stop it first")
    with alone(course.state / _LOCK, running), listening(address.host, address.port) as listener:
        service = Service(course, settings)

        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[None]:
            async with service.running():
                print(f"{course.title}: {address.url}  (stop with Ctrl-C)", flush=True)
                yield

        behind_proxy = bool(address.public_url) or address.hub
        config = http_config(
            application(service, _login(service), lifespan),
            proxy_headers=address.host in LOOPBACK and behind_proxy,
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
            raise KitError(f"--certificate or --key cannot be used: {error}") from None
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _login(service: Service) -> Login:
    address = service.settings.address
    cookie = session_cookie(address.prefix, secure=address.secure, own_host=address.hub)
    if not address.hub:
        return Login(service.accounts, cookie, address.prefix)
    staff = service.settings.instructors, service.settings.assistants
    return HubLogin(service.accounts, cookie, address.prefix, *staff)
