"""Push grades to LTI 1.3 platforms: Assignment and Grade Services 2.0, with names from NRPS 2.0.

The access token is requested with a signed JWT (RFC 7523, RS256). A week corresponds to the line
item whose tag is the week's name. A missing line item is created. A new score replaces the earlier
score and its comment. Every score has the current time as its timestamp, because platforms reject
scores with an older timestamp.
"""

import datetime as dt
import time
import uuid
from typing import Any

from ..lms.grade_files import total
from ..lms.roster import RosterEntry
from ..model.course import Course, Week
from ..model.course.registry import Lti
from ..model.errors import KitError, PlatformError
from .http_client import Web, secret_of
from .push import PlatformGrade

_AGS = "https://purl.imsglobal.org/spec/lti-ags/scope"
_SCOPES = (
    f"{_AGS}/lineitem {_AGS}/result.readonly {_AGS}/score "
    "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
)
_ITEM = "application/vnd.ims.lis.v2.lineitem+json"
_ITEMS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
_RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
_SCORE = "application/vnd.ims.lis.v1.score+json"
_MEMBERS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
_JWT_SECONDS = 300


class LtiLineItem:
    """The line item of a week. `create`: create the line item if it does not exist."""

    name = "lti"

    def __init__(self, lti: Lti, key: str, week: Week, *, create: bool, pause: float = 1.0) -> None:
        self._lti, self._key, self._week, self._create = lti, key, week, create
        self._web = Web(lti.lineitems, pause=pause)
        self._members = Web(lti.memberships, pause=pause)
        token = self._token(Web(lti.token_url, pause=pause))
        self._web.authorize(token)
        self._members.authorize(token)
        self._found: dict[str, Any] | None = None

    def people(self) -> list[RosterEntry]:
        """Return the active learners of the course."""
        pages = self._members.pages(self._lti.memberships, accept=_MEMBERS)
        members = [member for page in pages for member in page.get("members", [])]
        return [_entry(member) for member in members if _is_learner(member)]

    def maximum(self) -> float | None:
        """Return the line item's maximum points, or None if the line item does not exist."""
        item = self._item()
        return float(item["scoreMaximum"]) if item else None

    def grades(self) -> dict[str, PlatformGrade]:
        """Return the results by user id, scaled to the week's points."""
        item = self._item()
        if item is None:
            return {}
        found = {}
        for page in self._web.pages(_below(item["id"], "results"), accept=_RESULTS):
            for result in page:
                score, most = result.get("resultScore"), result.get("resultMaximum") or 1
                points = None if score is None else float(score) / float(most) * total(self._week)
                comment = str(result.get("comment") or "")
                found[str(result["userId"])] = PlatformGrade(points, (comment,) if comment else ())
        return found

    def write(self, number: str, points: float, comment: str | None) -> str:
        """Send a score, and return "". A missing line item is created only if `create` was set."""
        item = self._item() or self._create_item()
        now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
        score = {
            "userId": number,
            "scoreGiven": points,
            "scoreMaximum": total(self._week),
            "timestamp": now,
            "activityProgress": "Completed",
            "gradingProgress": "FullyGraded",
        } | ({} if comment is None else {"comment": comment})
        url = _below(item["id"], "scores")
        self._web.write("POST", url, json=score, headers={"Content-Type": _SCORE})
        return ""

    def _item(self) -> dict[str, Any] | None:
        if self._found is None:
            tagged = [
                item
                for page in self._web.pages(self._lti.lineitems, accept=_ITEMS)
                for item in page
                if item.get("tag") == self._week.name
            ]
            if len(tagged) > 1:
                raise PlatformError(f"the platform has several line items for {self._week.name}")
            self._found = tagged[0] if tagged else None
        return self._found

    def _create_item(self) -> dict[str, Any]:
        if not self._create:
            raise PlatformError(f"the platform has no line item for {self._week.name}")
        item = {
            "scoreMaximum": total(self._week),
            "label": self._week.title,
            "resourceId": self._week.name,
            "tag": self._week.name,
        }
        headers = {"Content-Type": _ITEM, "Accept": _ITEM}
        self._found = self._web.write("POST", self._lti.lineitems, json=item, headers=headers)
        assert self._found is not None
        return self._found

    def _token(self, web: Web) -> str:
        import jwt

        now = int(time.time())
        claims = {
            "iss": self._lti.client_id,
            "sub": self._lti.client_id,
            "aud": self._lti.audience or self._lti.token_url,
            "iat": now - 5,
            "exp": now + _JWT_SECONDS,
            "jti": str(uuid.uuid4()),
        }
        headers = {"kid": self._lti.key_id} if self._lti.key_id else None
        try:
            signed = jwt.encode(claims, self._key, algorithm="RS256", headers=headers)
        except (ValueError, TypeError, jwt.PyJWTError):
            raise KitError("the LTI key is not an RSA private key in PEM format") from None
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": signed,
            "scope": _SCOPES,
        }
        response = web.write("POST", self._lti.token_url, data=form)
        token = response.get("access_token") if isinstance(response, dict) else None
        if not isinstance(token, str):
            raise PlatformError("the platform returned no access token")
        return token


def lti_line_item(
    course: Course, week: Week, *, create: bool = True, pause: float = 1.0
) -> LtiLineItem:
    """Return the line item of a week; raise KitError if the platform or key is not configured."""
    if course.registry.lti is None:
        raise KitError(
            "LTI is not configured: add lti: {client_id: ..., token_url: ..., lineitems: ..., "
            "memberships: ...} to course.yaml"
        )
    key = secret_of(course, "LTI_KEY", "lti-key.pem")
    return LtiLineItem(course.registry.lti, key, week, create=create, pause=pause)


def _below(url: str, name: str) -> str:
    """Append `name` to the path of a line item's URL, keeping its query string."""
    path, mark, query = url.partition("?")
    return f"{path.rstrip('/')}/{name}{mark}{query}"


def _is_learner(member: dict[str, Any]) -> bool:
    learns = any(str(role).endswith("Learner") for role in member.get("roles", []))
    return learns and member.get("status", "Active") == "Active"


def _entry(member: dict[str, Any]) -> RosterEntry:
    number, email = str(member["user_id"]), str(member.get("email") or "")
    login = str(member.get("ext_user_username") or "")
    sis = str(member.get("lis_person_sourcedid") or "")
    student = login.split("@")[0] or email.split("@")[0] or sis or number
    keys = (login, sis, email, number)
    return RosterEntry(student, str(member.get("name", "")), email, number, keys, {})
