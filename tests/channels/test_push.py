"""Grades pushed to Canvas and by LTI: once each, even after failures; secrets stay local."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.channels.canvas import canvas_assignment
from autograder.channels.http_client import Web
from autograder.channels.lti import lti_line_item
from autograder.channels.push import Platform, Push, carry_out_push, plan_push
from autograder.model.course import Course, load
from autograder.model.errors import KitError, PlatformError
from tests.channels.platform_server import TOKEN, CanvasServer, LtiServer, PlatformServer, serving

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "course"
SCORES = {"ada": 4.5, "bob": 2.25, "carl": 0.0}
COMMENTS = {"ada": "Well done.", "bob": "Look at `weigh`."}


def course_at(root: Path, more: str) -> Course:
    root.mkdir()
    text = (GOLDEN / "course.yaml").read_text()
    text = text.replace("    title: Tiny\n", "    title: Tiny\n    lms: {canvas_id: 4411}\n")
    (root / "course.yaml").write_text(text + more)
    for name in ("autograder", "exercises", "solutions"):
        (root / name).symlink_to(GOLDEN / name)
    return load(root)


@pytest.fixture
def canvas() -> Iterator[CanvasServer]:
    with serving(CanvasServer()) as server:
        assert isinstance(server, CanvasServer)
        yield server


@pytest.fixture
def course(canvas: CanvasServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    return course_at(tmp_path / "course", f"canvas: {{url: '{canvas.url}', course: 7}}\n")


def planned(course: Course, platform: Platform | None = None, **more: object) -> Push:
    platform = platform or canvas_assignment(course, course.weeks[0], pause=0.01)
    asked = {"scores": SCORES, "comments": COMMENTS} | more
    return plan_push(course, course.weeks[0], platform, **asked)  # type: ignore[arg-type]


def pushed(course: Course, platform: Platform | None = None, **more: object) -> Push:
    platform = platform or canvas_assignment(course, course.weeks[0], pause=0.01)
    push = planned(course, platform, **more)
    carry_out_push(course, course.weeks[0], platform, push)
    return push


def held(server: CanvasServer) -> dict[int, tuple[float | None, int]]:
    return {
        n: (s["entered_score"], len(s["submission_comments"]))
        for n, s in server.submissions.items()
    }


ALL = {101: (4.5, 1), 102: (2.25, 1), 103: (0.0, 0)}


def test_grades_and_comments_arrive(course: Course, canvas: CanvasServer) -> None:
    push = pushed(course)
    assert push.written == ["ada", "bob", "carl"]
    assert held(canvas) == ALL
    (comment,) = canvas.submissions[102]["submission_comments"]
    assert comment["comment"].startswith("Look at `weigh`.\n\n(ref ")


def test_a_dry_run_reads_and_writes_nothing(course: Course, canvas: CanvasServer) -> None:
    push = planned(course)
    assert [one.student for one in push.of("write")] == ["ada", "bob", "carl"]
    assert canvas.writes == 0
    assert {method for method, _, _ in canvas.requests} == {"GET"}


def test_a_second_push_writes_nothing(course: Course, canvas: CanvasServer) -> None:
    pushed(course)
    assert pushed(course).written == []
    assert canvas.writes == 3


def test_a_changed_grade_and_comment_are_written_alone(
    course: Course, canvas: CanvasServer
) -> None:
    pushed(course)
    again = {"scores": SCORES | {"bob": 3.0}, "comments": COMMENTS | {"bob": "Better."}}
    assert pushed(course, **again).written == ["bob"]
    assert held(canvas)[102] == (3.0, 2)


@pytest.mark.parametrize("fault", ["drop", "lost", "busy"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_lost_answer_doubles_nothing(
    course: Course, canvas: CanvasServer, fault: str, number: int
) -> None:
    canvas.faults[number] = fault
    assert pushed(course).failed == {}
    assert held(canvas) == ALL


def test_a_push_that_failed_half_way_is_resumed(course: Course, canvas: CanvasServer) -> None:
    canvas.faults = {2: "refuse"}
    push = pushed(course)
    assert set(push.failed) == {"bob"}
    assert "not today" in push.failed["bob"]
    assert pushed(course).written == ["bob"]
    assert held(canvas) == ALL


@pytest.mark.parametrize("arrived", [True, False], ids=["after it arrived", "before it left"])
def test_a_push_that_was_killed_is_resumed_and_doubles_nothing(
    course: Course, canvas: CanvasServer, arrived: bool
) -> None:
    platform = canvas_assignment(course, course.weeks[0], pause=0.01)
    write = platform.write

    def killed(number: str, points: float, comment: str | None) -> str:
        if number == "102":
            if arrived:
                write(number, points, comment)
            raise KeyboardInterrupt
        return write(number, points, comment)

    platform.write = killed  # type: ignore[method-assign]
    push = planned(course, platform)
    with pytest.raises(KeyboardInterrupt):
        carry_out_push(course, course.weeks[0], platform, push)
    assert pushed(course).written == (["carl"] if arrived else ["bob", "carl"])
    assert held(canvas) == ALL


def test_a_grade_that_somebody_entered_there_is_left_alone(
    course: Course, canvas: CanvasServer
) -> None:
    pushed(course)
    canvas.submissions[101]["entered_score"] = 5.0
    again = SCORES | {"ada": 4.75}
    push = pushed(course, scores=again)
    assert [one.student for one in push.of("changed there")] == ["ada"]
    assert held(canvas)[101][0] == 5.0
    pushed(course, scores=again, overwrite=True)
    assert held(canvas)[101][0] == 4.75


def test_after_a_failure_our_own_former_grade_is_still_ours(
    course: Course, canvas: CanvasServer
) -> None:
    pushed(course)
    canvas.faults = {4: "refuse"}
    again = SCORES | {"ada": 4.75}
    assert set(pushed(course, scores=again).failed) == {"ada"}
    assert pushed(course, scores=again).written == ["ada"]


def test_who_is_no_student_there_is_named(course: Course, canvas: CanvasServer) -> None:
    push = pushed(course, scores=SCORES | {"mallory": 5.0})
    assert push.unmatched == ["mallory"]
    assert canvas.writes == 3


def test_canvas_own_late_policy_is_pointed_out(course: Course, canvas: CanvasServer) -> None:
    canvas.late_policy = 0.5
    assert any("disable its late policy" in note for note in pushed(course).notes)


def test_other_points_there_are_pointed_out(course: Course, canvas: CanvasServer) -> None:
    assert any("6 points on the platform and 5" in note for note in planned(course).notes)


# Secrets


def test_a_wrong_secret_is_said_and_not_shown(
    course: Course, canvas: CanvasServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANVAS_TOKEN", "wrong-9d1c")
    with pytest.raises(PlatformError, match="the credentials were rejected") as caught:
        planned(course)
    assert "wrong-9d1c" not in str(caught.value)


def test_nothing_that_is_kept_or_logged_holds_the_secret(
    course: Course, canvas: CanvasServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    canvas.faults = {1: "lost", 2: "refuse"}
    push = pushed(course)
    kept = b"".join(p.read_bytes() for p in course.state.rglob("*") if p.is_file())
    assert TOKEN.encode() not in kept
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(push)
    assert not any(TOKEN in path for _, path, _ in canvas.requests)


def test_a_file_that_others_can_read_is_refused(
    course: Course, canvas: CanvasServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CANVAS_TOKEN")
    with pytest.raises(KitError, match=r"store them in \.autograder/canvas-token"):
        planned(course)
    path = course.state / "canvas-token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o644)
    with pytest.raises(KitError, match="chmod 600"):
        planned(course)
    path.chmod(0o600)
    assert len(pushed(course).plan) == 3
    assert stat.S_IMODE((course.state / "pushes").stat().st_mode) == 0o700


def test_a_secret_goes_through_https_alone() -> None:
    with pytest.raises(KitError, match="use https"):
        Web("http://canvas.example.org")


def test_a_list_that_leads_elsewhere_is_not_followed(course: Course, canvas: CanvasServer) -> None:
    with serving(CanvasServer()) as other:
        canvas.url, own = other.url, canvas.url
        with pytest.raises(PlatformError, match="redirects to a different host"):
            planned(course)
        assert other.requests == []
        canvas.url = own


def test_two_pushes_at_once_are_refused(course: Course, canvas: CanvasServer) -> None:
    platform = canvas_assignment(course, course.weeks[0], pause=0.01)
    push, second = planned(course, platform), planned(course, platform)

    def meanwhile() -> None:
        with pytest.raises(KitError, match="another push"):
            carry_out_push(course, course.weeks[0], platform, second)

    carry_out_push(course, course.weeks[0], platform, push, meanwhile)
    assert held(canvas) == ALL


# LTI 1.3: Assignment and Grade Services


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    ).decode()
    public = key.public_key().public_bytes(
        form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo
    )
    return private, public.decode()


@pytest.fixture
def platform(keys: tuple[str, str]) -> Iterator[LtiServer]:
    with serving(LtiServer(keys[1])) as server:
        assert isinstance(server, LtiServer)
        yield server


@pytest.fixture
def registered(platform: LtiServer, keys: tuple[str, str], tmp_path: Path) -> Course:
    url = platform.url
    places = f"token_url: '{url}/token', lineitems: '{url}/items', memberships: '{url}/members'"
    course = course_at(tmp_path / "course", f"lti: {{client_id: tool-9, {places}, key_id: k1}}\n")
    path = course.state / "lti-key.pem"
    os.close(os.open(path, os.O_CREAT, 0o600))
    path.write_text(keys[0])
    return course


def by_lti(course: Course, **more: object) -> Push:
    item = lti_line_item(course, course.weeks[0], pause=0.01)
    return pushed(course, item, **more)


def results(platform: LtiServer) -> dict[str, float]:
    return {u: r["resultScore"] / r["resultMaximum"] * 5 for u, r in platform.results.items()}


def test_a_line_item_is_made_and_scores_arrive(registered: Course, platform: LtiServer) -> None:
    assert by_lti(registered).written == ["ada", "bob", "carl"]
    assert results(platform) == {"u-1": 4.5, "u-2": 2.25, "u-3": 0.0}
    (item,) = platform.items
    assert (item["tag"], item["scoreMaximum"], item["label"]) == ("week01_tiny", 5.0, "Tiny")


def test_a_second_push_by_lti_writes_nothing_and_makes_no_second_column(
    registered: Course, platform: LtiServer
) -> None:
    by_lti(registered)
    assert by_lti(registered).written == []
    assert (platform.writes, len(platform.items)) == (3, 1)


def test_a_dry_run_by_lti_makes_no_column(registered: Course, platform: LtiServer) -> None:
    item = lti_line_item(registered, registered.weeks[0], create=False, pause=0.01)
    assert len(planned(registered, item).of("write")) == 3
    assert platform.items == []


@pytest.mark.parametrize("fault", ["drop", "lost"])
def test_a_lost_answer_by_lti_doubles_nothing(
    registered: Course, platform: LtiServer, fault: str
) -> None:
    platform.faults[2] = fault
    assert by_lti(registered).failed == {}
    assert results(platform) == {"u-1": 4.5, "u-2": 2.25, "u-3": 0.0}


def test_a_key_of_somebody_else_is_refused(
    registered: Course, platform: LtiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import rsa

    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = other.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    monkeypatch.setenv("LTI_KEY", text.decode())
    with pytest.raises(PlatformError, match="invalid_client"):
        by_lti(registered)
    monkeypatch.setenv("LTI_KEY", "no key at all")
    with pytest.raises(KitError, match="not an RSA private key") as caught:
        by_lti(registered)
    assert "no key at all" not in str(caught.value)


def test_two_platforms_keep_their_own_record(
    registered: Course, platform: LtiServer, tmp_path: Path
) -> None:
    by_lti(registered)
    assert [p.name for p in (registered.state / "pushes").glob("*.json")] == [
        "lti-week01_tiny.json"
    ]
    assert isinstance(platform, PlatformServer)
