"""Speaking with the course's service: a token once, then a key that stays on this machine.

A key goes to the address that it was given by and nowhere else: no redirection is followed, and to
another machine only https is spoken.
"""

from __future__ import annotations

import contextlib
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from ...model.errors import KitError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SECONDS = 60.0
_HUB_TOKEN = "JUPYTERHUB_API_TOKEN"
_FORM = "application/x-www-form-urlencoded"
_MOST = 4 << 20  # bytes of an answer


class Unknown(KitError):
    """The service does not know who asks."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows nobody."""

    def redirect_request(self, *_: Any) -> None:
        return None


class CourseService:
    """A course's service."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise KitError(f"{url!r} is no address of a service: it looks like https://host/")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise KitError(f"{url} is not encrypted, and a key would cross the network: use https")
        self.url = url if url.endswith("/") else f"{url}/"
        self._opener = urllib.request.build_opener(_Stay)
        self.key = self._kept_key()

    # Who asks

    def _kept_key(self) -> str:
        """The key of this machine; in a JupyterHub's server, what it has from the Hub."""
        hub = os.environ.get(_HUB_TOKEN, "")
        if hub and "/services/" in self.url:
            return hub
        return str(_read(keys_file()).get(self.url, ""))

    def enter(self, token: str) -> str:
        """Change a token for a key, and keep it; the name that belongs to it."""
        form = urllib.parse.urlencode({"token": token}).encode()
        said = self._json("enter", form, _FORM)
        self.key = str(said["key"])
        path = keys_file()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        keys = _read(path) | {self.url: self.key}
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(keys, file)
        return str(said["name"])

    # What is asked

    def review(self, week: str, data: bytes) -> dict[str, Any]:
        """Send a zip; return what submitting it would keep, replace or leave missing."""
        return self._json(f"weeks/{week}/review", data, "application/zip")

    def submit(self, week: str, digest: str) -> dict[str, Any]:
        """Submit what was reviewed; return the receipt."""
        form = urllib.parse.urlencode({"digest": digest}).encode()
        return self._json(f"weeks/{week}/tries", form, _FORM)

    def result(self, receipt: str) -> dict[str, Any]:
        return self._json(f"tries/{receipt}")

    def follow(self, receipt: str) -> Iterator[dict[str, Any]]:
        """How a try stands, each time that it changes, until it is over."""
        with self._open(f"tries/{receipt}/events") as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    with contextlib.suppress(ValueError):
                        yield json.loads(line[6:])

    def _json(self, path: str, data: bytes | None = None, kind: str = "") -> dict[str, Any]:
        try:
            with self._open(path, data, kind) as answer:
                found = json.loads(answer.read(_MOST))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise KitError(f"{self.url} does not answer as a service of this kit does")
        return found

    def _open(self, path: str, data: bytes | None = None, kind: str = "") -> Any:
        headers = {"accept": "application/json"}
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        if kind:
            headers["content-type"] = kind
        request = urllib.request.Request(self.url + path, data, headers)
        try:
            return self._opener.open(request, timeout=_SECONDS)
        except urllib.error.HTTPError as error:
            raise self._refused(error) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", None) or error
            raise KitError(
                f"{self.url} cannot be reached ({why}): nothing was submitted; try again later"
            ) from None

    def _refused(self, error: urllib.error.HTTPError) -> KitError:
        with error:
            try:
                said = str(json.loads(error.read(_MOST))["error"])
            except (ValueError, KeyError, TypeError, OSError):
                said = f"it answered {error.code}"
        if error.code == 401:
            return Unknown(said)
        return KitError(f"{self.url}: {said}")


def keys_file() -> Path:
    return Path(typer.get_app_dir("autograder")) / "keys.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
