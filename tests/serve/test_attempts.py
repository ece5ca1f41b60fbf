"""Attacks on the number of results that a student may see."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import random
import time
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from autograder.model.course import Week
from autograder.model.report.schema import Ending
from autograder.nbgrader.collect.inbound import ExchangeSubmission
from autograder.nbgrader.workspace import Workspace
from autograder.serve.grading_service import Service
from autograder.serve.login import Person
from autograder.serve.tables import (
    GRADED,
    REPLACED,
    RUNNING,
    WAITING,
    QueuedSubmission,
)
from tests.nbgrader.tiny_course import SOLUTION, WEEK
from tests.serve.conftest import Clock
from tests.serve.test_inbox import inbound, left  # noqa: F401
from tests.serve.test_queue import report

EVE = Person("eve", "student", "browser")


@pytest.fixture
def service(service: Service, clock: Clock) -> Service:
    """A service that shows one result a day, an hour apart, and whose clock a test sets."""
    limit(service, tries=1, cooldown_minutes=60, until="always")
    service.queue.clock = clock
    return service


def limit(service: Service, **limits: Any) -> None:
    course = service.courses.now
    immediate = msgspec.structs.replace(course.registry.immediate, **limits)
    course.registry = msgspec.structs.replace(course.registry, immediate=immediate)


def submit(service: Service, week: Week, number: int = 0) -> QueuedSubmission:
    files = {"doubling.py": f"{SOLUTION}\n# {number}\n".encode()}
    return service.submissions.submit("eve", week, files, "page")[0]


def grade(service: Service) -> None:
    one = service.queue.claim()
    if one is not None:
        service.queue.finish(one, report(one), 1.0)


def shown(service: Service, student: str = "eve") -> list[QueuedSubmission]:
    """The submissions whose results a student sees."""
    return [
        t for t in service.queue.of_student(student, WEEK) if t.state == GRADED and not t.withheld
    ]


def test_dates_in_the_exchange_are_no_attempts(service, inbound):  # noqa: F811
    service.queue.clock.now = time.time()
    for day in range(1, 6):
        module = f"{SOLUTION}\n# {day}\n"
        left(inbound, "eve", f"2026-01-{day:02} 12:00:00.000000 UTC", doubling_py=module)
        service.inbox.look()
        grade(service)
    assert len(service.queue.of_student("eve", WEEK)) == 5
    assert len(shown(service)) == 1


@pytest.mark.parametrize("channel", ["exchange", "page"])
def test_an_unchanged_submission_from_the_exchange_uses_no_attempt(
    service,
    course,
    week,
    inbound,  # noqa: F811
    channel,
):
    limit(service, tries=2, cooldown_minutes=0)
    service.queue.clock.now = 1.7e9 if channel == "page" else time.time()
    module = f"{SOLUTION}\n# 0\n"
    if channel == "exchange":
        left(inbound, "eve", doubling_py=module)
        service.inbox.look()
    else:
        submit(service, week)
    grade(service)
    service.queue.clock.now = time.time()
    folder = left(inbound, "eve", "2026-01-11 12:00:00.000000 UTC", doubling_py=module)
    secret = "6" * 128
    (folder / "submission_secret.txt").write_text(secret)
    os.utime(folder / "submission_secret.txt", (0, 0))
    service.inbox.look()
    assert service.queue.of_student("eve", WEEK) == shown(service)
    assert len(shown(service)) == 1
    page = hashlib.md5(f"{secret}{WEEK}".encode()).hexdigest()
    assert (Workspace(course).exchange / course.id / "feedback" / f"{page}.html").is_file()


def test_the_exchange_and_the_page_share_the_attempts(service, week, inbound):  # noqa: F811
    service.queue.clock.now = time.time()
    left(inbound, "eve")
    service.inbox.look()
    grade(service)
    submit(service, week)
    grade(service)
    assert len(shown(service)) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_that_anybody_may_have_left_is_not_taken(service, inbound):  # noqa: F811
    """Not for made-up names, which would be made-up attempts, and not for a real student."""
    for name in ("eve1", "eve2", "ada"):
        os.chown(left(inbound, name), 12345, 12345)
    service.inbox.look()
    assert service.queue.in_states(WAITING) == []
    assert (
        "does not belong to an account" in service.incidents.current["left in the exchange"].message
    )


def test_a_folder_of_a_time_to_come_keeps_the_service_busy_once(service, inbound):  # noqa: F811
    folder = left(inbound, "eve")
    os.utime(folder / "doubling.py", (4e9, 4e9))
    assert not service.inbox.look()
    assert len(service.queue.of_student("eve", WEEK)) == 1


def test_a_system_error_costs_no_attempt_and_shows_nothing(service, week):
    for number in range(3):
        submit(service, week, number)
        claimed = service.queue.claim()
        assert claimed is not None
        assert not claimed.withheld
        assert service.views.submission(claimed).result is None
        service.queue.put_back(claimed, "the lane ended", 0.0)
        assert service.views.allowance("eve", week).left == 1


def test_a_file_that_cannot_be_graded_uses_up_no_attempt_and_says_why(service, week):
    one = submit(service, week)
    refused = msgspec.structs.replace(report(one), verdict=Ending.REFUSED, message="line 3")
    service.queue.finish(service.queue.claim(), refused, 1.0)
    assert service.views.submission(service.queue.find(one.receipt)).result.message == "line 3"
    assert service.views.allowance("eve", week).left == 1
    assert not submit(service, week, 2).withheld


def test_a_submission_the_service_failed_on_is_replaced_and_never_shown(service, week):
    first = submit(service, week, 1)
    service.queue.put_back(service.queue.claim(), "the disk is full", 600.0)
    submit(service, week, 2)
    assert service.queue.find(first.receipt).state == REPLACED
    assert service.queue.start() == 0
    grade(service)
    assert service.queue.claim() is None
    assert len(shown(service)) == 1


def test_a_cooldown_cannot_be_waited_for_in_advance(service, week, clock):
    limit(service, tries=9)
    submit(service, week, 1)
    grade(service)
    submit(service, week, 2)  # waits for its hour
    clock.now += 3600
    grade(service)
    submit(service, week, 3)
    assert len(shown(service)) == 2
    assert service.queue.claim() is None


def test_withheld_work_that_is_sent_again_is_shown_once_an_attempt_is_left(service, week, clock):
    submit(service, week, 1)
    grade(service)
    held = submit(service, week, 2)
    grade(service)
    assert submit(service, week, 2).withheld
    assert "submit the same files again" in service.views.submission(held).why
    clock.now += 86_400
    again = submit(service, week, 2)
    assert (again.withheld, again.received) == (False, held.received)
    grade(service)
    assert len(shown(service)) == 2
    assert service.views.allowance("eve", week).left == 0


def test_a_submission_that_is_sent_again_after_another_was_restored_counts(service, week, clock):
    first = submit(service, week, 1)
    grade(service)
    second = submit(service, week, 2)
    grade(service)
    service.queue.restore(first.receipt)
    clock.now += 1
    again = submit(service, week, 2)
    assert again.receipt != second.receipt
    assert service.submissions.base("eve", week).received == again.received


def test_a_clock_that_is_set_back_brings_no_attempts(service, week, clock):
    submit(service, week, 1)
    grade(service)
    clock.now -= 3 * 86_400
    assert submit(service, week, 2).withheld


@pytest.mark.parametrize("seed", range(3))
def test_no_order_of_events_shows_more_results_than_allowed(service, week, clock, seed):
    limit(service, per="hour", cooldown_minutes=0)
    chance = random.Random(seed)

    def from_exchange() -> None:
        said = dt.datetime.fromtimestamp(clock.now + 86_400 * chance.uniform(-9, 9), dt.UTC)
        source = f"{WEEK}+{chance.random()}"
        found = ExchangeSubmission(source, "eve", week.name, said, own=True, trusted=True)
        service.submissions.submit_from_exchange(
            found, {"doubling.py": f"{SOLUTION}# {source}\n".encode()}
        )

    def finish() -> None:
        for one in service.queue.in_states(RUNNING):
            service.queue.finish(one, report(one), 1.0)

    def fail() -> None:
        if (one := service.queue.claim()) is not None:
            service.queue.put_back(one, "the disk is full", chance.choice((0.0, 600.0)))

    def restore() -> None:
        if own := service.queue.of_student("eve", WEEK):
            service.queue.restore(chance.choice(own).receipt)

    def wait() -> None:
        clock.now += 3600 * chance.uniform(0, 1.5)

    events = {
        "submit": lambda: submit(service, week, chance.randrange(6)),
        "exchange": from_exchange,
        "begin": service.queue.claim,
        "finish": finish,
        "grade": lambda: grade(service),
        "fail": fail,
        "restart": service.queue.start,
        "restore": restore,
        "wait": wait,
    }

    for _ in range(200):
        events[chance.choice(list(events))]()
        counted = sorted(t.counts_from for t in shown(service))
        assert all(later - one >= 3600 for one, later in pairwise(counted))
    assert len(counted) > 3
