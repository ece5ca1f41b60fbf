"""Read and write the grades and comments of a Canvas assignment through the REST API.

Canvas's API documentation describes the endpoints and fields: users of a course, assignments,
submissions (`entered_score`, `score`, `submission_comments`) and "Grade or comment on a
submission". Canvas cannot replace a comment, so callers first check for an equal comment.
"""

from typing import Any

from ..lms.roster import RosterEntry
from ..model.course import Course, Week
from ..model.errors import KitError
from .http_client import Web, secret_of
from .push import PlatformGrade

_PAGE = 100
_TOLERANCE = 1e-6


class CanvasAssignment:
    """The Canvas assignment of a week (`lms.canvas_id` in course.yaml)."""

    name = "canvas"

    def __init__(self, web: Web, course: int, assignment: int) -> None:
        self._web = web
        self._course = f"/api/v1/courses/{course}"
        self._assignment = f"{self._course}/assignments/{assignment}"

    def people(self) -> list[RosterEntry]:
        """Return all users who are enrolled as students."""
        query: dict[str, Any] = {"enrollment_type[]": "student", "per_page": _PAGE}
        pages = self._web.pages(f"{self._course}/users", **query)
        return [_entry(user) for page in pages for user in page]

    def maximum(self) -> float | None:
        """Return the assignment's maximum points, or None if none are set."""
        points = self._web.get(self._assignment).get("points_possible")
        return None if points is None else float(points)

    def grades(self) -> dict[str, PlatformGrade]:
        """Return the grades by user id, as entered before Canvas applies its late policy."""
        query: dict[str, Any] = {"include[]": "submission_comments", "per_page": _PAGE}
        pages = self._web.pages(f"{self._assignment}/submissions", **query)
        return {str(one["user_id"]): _grade(one) for page in pages for one in page}

    def write(self, number: str, points: float, comment: str | None) -> str:
        """Enter points and any comment; return a warning if Canvas changes the points, else ""."""
        data: dict[str, Any] = {"submission": {"posted_grade": f"{points:.4f}"}}
        if comment is not None:
            data["comment"] = {"text_comment": comment}
        response = self._web.write("PUT", f"{self._assignment}/submissions/{number}", json=data)
        shown = (response or {}).get("score")
        if shown is not None and abs(float(shown) - points) > _TOLERANCE:
            return (
                f"Canvas shows {float(shown):g} instead of {points:g}: disable its late policy, "
                "because lateness is already included"
            )
        return ""


def canvas_assignment(course: Course, week: Week, *, pause: float = 1.0) -> CanvasAssignment:
    """Return a week's assignment; raise KitError if a setting or the API token is missing."""
    canvas, number = course.registry.canvas, week.lms.canvas_id if week.lms else None
    if canvas is None:
        raise KitError("course.yaml has no canvas: add canvas: {url: https://..., course: 123}")
    if number is None:
        raise KitError(f"course.yaml: {week.name} has no lms: {{canvas_id: NUMBER}}")
    web = Web(canvas.url, pause=pause)
    web.authorize(secret_of(course, "CANVAS_TOKEN", "canvas-token"))
    return CanvasAssignment(web, canvas.course, number)


def _grade(submission: dict[str, Any]) -> PlatformGrade:
    entered = submission.get("entered_score")
    points = submission.get("score") if entered is None else entered
    comments = submission.get("submission_comments") or []
    texts = tuple(str(comment.get("comment", "")) for comment in comments)
    return PlatformGrade(None if points is None else float(points), texts)


def _entry(user: dict[str, Any]) -> RosterEntry:
    number = str(user["id"])
    keys = tuple(str(user.get(k) or "") for k in ("login_id", "sis_user_id", "email"))
    login, sis, email = keys
    student = login.split("@")[0] or sis or number
    address = email or (login if "@" in login else "")
    return RosterEntry(student, str(user.get("name", "")), address, number, (*keys, number), {})
