"""The order of the queue; no submission is lost or graded twice."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from autograder.model.report.schema import Ending, SubmissionReport
from autograder.serve.queue import LEASE, Admission, Queue
from autograder.serve.recording import Ledger
from autograder.serve.tables import (
    COUNTED,
    GRADED,
    REPLACED,
    RUNNING,
    WAITING,
    QueuedSubmission,
)
from autograder.serve.views.view_models import Views


def hand_in(queue: Queue, student: str, content: bytes = b"x", **more) -> QueuedSubmission:
    return queue.add(student, "week01", content, content.hex(), channel="page", **more)


def grade(queue: Queue, score: float = 1.0) -> QueuedSubmission:
    one = queue.claim()
    assert one is not None
    queue.finish(one, report(one, score), 1.0)
    return one


def report(one: QueuedSubmission, score: float = 1.0) -> SubmissionReport:
    return SubmissionReport(one.student, Ending.GRADED, score, 3.0, 0.1)


def state(queue: Queue, one: QueuedSubmission) -> str:
    found = queue.find(one.receipt)
    assert found is not None
    return found.state


def test_a_receipt_outlives_the_service(queue, tmp_path):
    one = hand_in(queue, "ada", b"work")
    other = Queue(queue.engine)
    assert other.find(one.receipt) == queue.find(one.receipt)
    assert other.content(one.digest) == b"work"


def test_who_came_first_is_graded_first(queue):
    for student in ("ada", "alan", "grace"):
        hand_in(queue, student)
    assert [grade(queue).student for _ in range(3)] == ["ada", "alan", "grace"]


def test_a_newer_try_replaces_one_that_waits_and_keeps_its_place(queue):
    first = hand_in(queue, "ada", b"1")
    hand_in(queue, "alan")
    second = hand_in(queue, "ada", b"2")
    assert state(queue, first) == REPLACED
    assert grade(queue).receipt == second.receipt
    assert grade(queue).student == "alan"
    assert queue.claim() is None


def test_nobodys_tenth_try_goes_before_anothers_first(queue):
    for number in range(9):
        hand_in(queue, "ada", bytes([number]))
        grade(queue)
    hand_in(queue, "ada", b"tenth")
    hand_in(queue, "alan", b"first")
    assert [grade(queue).student for _ in range(2)] == ["alan", "ada"]


def test_what_is_not_told_at_once_waits_for_what_is(queue):
    hand_in(queue, "ada", admit=lambda _: Admission(withheld=True))
    hand_in(queue, "alan")
    assert [grade(queue).student for _ in range(2)] == ["alan", "ada"]


def test_two_tries_of_one_student_are_never_graded_at_once(queue):
    first = hand_in(queue, "ada", b"1")
    assert queue.claim().receipt == first.receipt
    second = hand_in(queue, "ada", b"2")
    assert state(queue, first) == RUNNING
    assert queue.claim() is None
    queue.finish(first, report(first), 1.0)
    assert queue.claim().receipt == second.receipt


def test_what_a_killed_service_had_begun_is_graded_again(queue):
    one = hand_in(queue, "ada")
    queue.claim()
    again = Queue(queue.engine, queue.clock)
    assert again.start() == 1
    assert again.claim().receipt == one.receipt


def test_a_receipt_has_one_result(queue):
    one = hand_in(queue, "ada")
    queue.claim()
    queue.finish(one, report(one, 2.0), 1.0)
    queue.finish(one, report(one, 1.0), 1.0)
    assert queue.result(one.receipt).score == 2.0
    assert len(Ledger(queue.engine).graded("ada", "week01")) == 1


def test_a_fault_of_ours_waits_and_a_restart_tries_again_at_once(queue, clock):
    one = hand_in(queue, "ada")
    for _ in range(2):
        queue.put_back(queue.claim(), "the disk is full", 60.0)
        assert state(queue, one) == WAITING
        assert queue.claim() is None
        clock.now += 61
    queue.put_back(queue.claim(), "the disk is full", 600.0)
    assert queue.start() == 1
    assert queue.claim().receipt == one.receipt


def test_a_fault_on_what_a_newer_try_has_replaced_is_over(queue):
    one = hand_in(queue, "ada", b"1")
    claimed = queue.claim()
    newer = hand_in(queue, "ada", b"2")
    queue.put_back(claimed, "killed", 0.0)
    assert state(queue, one) == REPLACED
    assert queue.claim().receipt == newer.receipt


def test_what_lies_in_the_exchange_is_taken_once(queue):
    first = hand_in(queue, "ada", source="ada+week01+2027", received=5.0)
    assert hand_in(queue, "ada", b"other", source="ada+week01+2027") == queue.find(first.receipt)


def test_the_line_before_a_try_is_counted(queue):
    hand_in(queue, "ada")
    hand_in(queue, "alan")
    last = hand_in(queue, "grace")
    assert queue.position(last) == (2, 0)
    queue.claim()
    assert queue.position(last) == (1, 1)


def test_the_gradebook_is_told_once_of_each_result_and_again_after_a_failure(queue, clock):
    ledger = Ledger(queue.engine, clock)
    hand_in(queue, "ada")
    grade(queue)
    assert ledger.pending() == [("ada", "week01")]
    ledger.mark("ada", "week01", 0.0, "the gradebook is locked")
    assert ledger.pending() == []
    assert ledger.failures() == [("ada", "week01", "the gradebook is locked")]
    clock.now += 61
    assert ledger.pending() == [("ada", "week01")]
    ((_, graded),) = ledger.graded("ada", "week01")
    ledger.mark("ada", "week01", graded)
    assert ledger.pending() == []
    clock.now += 1
    hand_in(queue, "ada", b"2")
    assert state(queue, grade(queue)) == GRADED
    assert ledger.pending() == [("ada", "week01")]


def test_what_is_said_of_a_wait_counts_the_rounds_before(service, week):
    queue = service.queue
    first, _ = service.submissions.submit("ada", week, {"doubling.py": b"x = 1"}, "page")
    assert queue.claim() is not None
    queue.finish(first, report(first), 5.0)
    for number in range(10):
        service.submissions.submit(f"s{number}", week, {"doubling.py": b"x = %d" % number}, "page")
    one, _ = service.submissions.submit("ada", week, {"doubling.py": b"x = 2"}, "page")
    for processes, rounds in ((1, 11), (4, 3)):
        view = Views(service.state, processes).submission(one)
        assert (view.ahead, view.seconds) == (10, rounds * 5)


def test_what_a_living_service_grades_is_left_to_it(queue, clock):
    other = Queue(queue.engine, clock, owner="other")
    one = hand_in(queue, "ada")
    assert queue.claim() is not None
    other.start()
    other.renew()
    assert state(queue, one) == RUNNING


def test_what_a_service_left_that_is_silent_is_graded_by_another(queue, clock):
    other = Queue(queue.engine, clock, owner="other")
    one = hand_in(queue, "ada")
    mine = queue.claim()
    for _ in range(3):
        clock.now += LEASE / 2
        assert (queue.renew(), other.renew()) == (0, 0)
    clock.now += LEASE + 1
    assert other.renew() == 1
    assert state(queue, one) == WAITING
    theirs = other.claim()
    queue.put_back(mine, "too slow", 0.0)  # it is no longer its own
    assert state(queue, one) == RUNNING
    other.finish(theirs, report(one, 2.0), 1.0)
    queue.finish(mine, report(one, 1.0), 1.0)
    assert queue.result(one.receipt).score == 2.0


def test_a_service_that_was_started_again_goes_on_with_what_it_had_begun(queue, clock):
    one = hand_in(queue, "ada")
    assert queue.claim() is not None
    Queue(queue.engine, clock, owner=queue.owner).start()
    assert state(queue, one) == WAITING


def test_many_who_claim_at_once_get_each_try_once(queue):
    for number in range(24):
        hand_in(queue, f"s{number}")
    services = [Queue(queue.engine, queue.clock, owner=name) for name in "ab"]

    def work(number: int) -> list[str]:
        found = []
        while (one := services[number % 2].claim()) is not None:
            found.append(one.receipt)
        return found

    with ThreadPoolExecutor(6) as pool:
        taken = [receipt for each in pool.map(work, range(6)) for receipt in each]
    assert len(taken) == len(set(taken)) == 24


def test_submissions_at_once_get_no_more_results_than_are_allowed(queue):
    """Each is sent and graded while the others of the same student are."""
    services = [Queue(queue.engine, queue.clock, owner=name) for name in "ab"]

    def one_result(earlier: Sequence[QueuedSubmission]) -> Admission:
        return Admission(withheld=any(t.state in COUNTED and not t.withheld for t in earlier))

    def work(number: int) -> None:
        one = services[number % 2]
        hand_in(one, f"s{number // 6}", bytes([number]), admit=one_result)
        if (claimed := one.claim()) is not None:
            one.finish(claimed, report(claimed), 1.0)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(120)))
    shown = [t.student for t in queue.in_states(GRADED, RUNNING, WAITING) if not t.withheld]
    assert len(shown) == len(set(shown))
