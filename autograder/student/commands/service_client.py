"""HTTP client for the course's service: sign in once with a token, then use a stored key.

A key is sent only to the service that issued it: redirects are not followed, and remote services
are contacted only over https.
"""

import contextlib
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from ...files import read_state, write_state
from ...model.availability import LOOPBACK
from ...model.errors import KitError

_SECONDS = 60.0
_HUB_TOKEN = "JUPYTERHUB_API_TOKEN"
_FORM = "application/x-www-form-urlencoded"
_MAX_BYTES = 4 << 20  # maximum size of a response
_NO_EFFECT = "nothing was submitted; try again later"


class SignInRequired(KitError):
    """The service rejected the key or token, or this machine has no key for the service."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class CourseService:
    """A client of the course's service; raises KitError if the URL is invalid or not encrypted."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise KitError(f"{url!r} is not the URL of a service: use a URL such as https://host/")
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise KitError(f"{url} is not encrypted, so others could read your key: use https")
        self.url = url if url.endswith("/") else f"{url}/"
        self._opener = urllib.request.build_opener(_NoRedirects)
        hub_token = os.environ.get(_HUB_TOKEN, "") if "/services/" in self.url else ""
        self.key = hub_token or str(_stored_keys().get(self.url, ""))

    def sign_in(self, token: str) -> str:
        """Exchange a token for a key and store the key; return the student's name."""
        form = urllib.parse.urlencode({"token": token}).encode()
        reply = self._json("enter", form, _FORM)
        self.key = str(reply["key"])
        keys = _stored_keys() | {self.url: self.key}
        write_state(keys_file(), keys)  # readable only by its owner
        return str(reply["name"])

    def review(self, week: str, data: bytes) -> dict[str, Any]:
        """Upload a zip for review; return the effects that submitting the zip would have."""
        return self._json(f"weeks/{week}/review", data, "application/zip")

    def submit(self, week: str, digest: str) -> dict[str, Any]:
        """Submit the reviewed files; return the receipt."""
        form = urllib.parse.urlencode({"digest": digest}).encode()
        unsure = f"it is not known whether your files arrived: look at {self.url} before you retry"
        return self._json(f"weeks/{week}/tries", form, _FORM, unsure)

    def follow(self, receipt: str) -> Iterator[dict[str, Any]]:
        """Yield the state of a submission until it is final, as often as the service suggests."""
        while True:
            state = self._json(f"tries/{receipt}")
            yield state
            if not state.get("refresh"):
                return
            time.sleep(float(state["refresh"]))  # the service sends no event to the client

    def _json(
        self, path: str, data: bytes | None = None, kind: str = "", effect: str = _NO_EFFECT
    ) -> dict[str, Any]:
        """Make a request; `effect` completes the message if no response arrives."""
        headers = {"accept": "application/json"}
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        if kind:
            headers["content-type"] = kind
        request = urllib.request.Request(self.url + path, data, headers)
        try:
            with self._opener.open(request, timeout=_SECONDS) as response:
                found = _dict_of(response.read(_MAX_BYTES))
        except urllib.error.HTTPError as error:
            raise self._http_error(error) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", None) or error
            raise KitError(f"{self.url} cannot be reached ({why}): {effect}") from None
        if not found:
            raise KitError(f"{self.url} is not a grading service of this kit: check the URL")
        return found

    def _http_error(self, error: urllib.error.HTTPError) -> KitError:
        message = f"HTTP status {error.code}"
        with error, contextlib.suppress(OSError):
            message = str(_dict_of(error.read(_MAX_BYTES)).get("error", message))
        if error.code == 401:
            return SignInRequired(message)
        return KitError(f"{self.url}: {message}")


def keys_file() -> Path:
    """Return the path of the file that stores session keys on this machine."""
    return Path(typer.get_app_dir("autograder")) / "keys.json"


def _stored_keys() -> dict[str, Any]:
    return read_state(keys_file(), dict[str, Any]) or {}


def _dict_of(data: bytes) -> dict[str, Any]:
    """Decode a JSON object; return {} for anything else."""
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
