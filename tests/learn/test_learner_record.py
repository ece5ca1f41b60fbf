"""The learner's folder: weeks as they are released, and progress that survives crashes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from autograder.authoring.lesson.handout import week_files
from autograder.learn.learner_record import LearnerFolder, WeekRecord
from autograder.learn.week_overview import open_tasks, overview, overviews
from autograder.model.course import Course, Week
from autograder.model.errors import KitError
from tests.learn.notebook import answer
from tests.nbgrader.tiny_course import graded


def reopened(learner: LearnerFolder) -> LearnerFolder:
    return LearnerFolder(learner.course, learner.path)


def test_a_week_is_laid_out_as_it_is_released(learner: LearnerFolder, week: Week) -> None:
    folder = learner.week(week).path
    names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    files = {name: (folder / name).read_bytes() for name in names}
    assert files == week_files(learner.course, week)


def test_work_is_kept_and_a_deleted_lesson_restored(learner: LearnerFolder, week: Week) -> None:
    folder = learner.week(week)
    folder.module.write_text("mine = 1\n")
    (folder.path / "hints.md").unlink()
    reopened(learner).week(week)
    assert folder.module.read_text() == "mine = 1\n"
    assert (folder.path / "hints.md").is_file()


def test_a_deleted_module_is_not_restored_without_asking(
    learner: LearnerFolder, week: Week
) -> None:
    learner.week(week).module.unlink()
    assert not reopened(learner).week(week).module.exists()


def test_progress_is_read_again(learner: LearnerFolder, week: Week) -> None:
    learner.add_report(week, graded("you", 2.0, 0.0))
    with learner.changing(week) as record:
        record.give_up("halve")
    again = overview(reopened(learner), week)
    assert (again.earned, again.record.given_up, again.next) == (2.0, ["halve"], "why")


def test_a_damaged_record_is_kept_aside(learner: LearnerFolder, week: Week) -> None:
    (learner.state / f"{week.name}.json").write_bytes(b'{"passed": ["dou')
    assert learner.record(week) == WeekRecord()
    assert (learner.state / f"{week.name}.damaged").read_bytes() == b'{"passed": ["dou'


def test_a_failed_write_leaves_the_previous_record(
    learner: LearnerFolder, week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner.add_report(week, graded("you", 2.0, 0.0))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(KitError, match="No space left"), learner.changing(week) as record:
        record.give_up("halve")
    monkeypatch.undo()
    assert reopened(learner).record(week).given_up == []


def test_an_exercise_given_up_earns_nothing_even_if_it_passes_later(
    learner: LearnerFolder, week: Week
) -> None:
    with learner.changing(week) as record:
        record.give_up("double")
    learner.add_report(week, graded("you", 2.0, 1.0))
    assert overview(learner, week).earned == 1.0
    assert learner.record(week).passed == ["halve"]


def test_an_exercise_that_passed_cannot_be_given_up(learner: LearnerFolder, week: Week) -> None:
    learner.add_report(week, graded("you", 2.0, 0.0))
    with learner.changing(week) as record:
        record.give_up("double")
    assert record.given_up == []


def test_a_week_is_finished_when_nothing_is_open(learner: LearnerFolder, week: Week) -> None:
    learner.add_report(week, graded("you", 2.0, 1.0))
    assert open_tasks(week, learner.record(week)) == ["why"]
    with learner.changing(week) as record:
        record.met["why"] = [0]
    (progress,), current = overviews(learner)
    assert (progress.next, progress.earned, progress.done) == ("", 5.0, 3)
    assert current is None


def test_electives_beyond_those_that_count_are_not_open(week: Week) -> None:
    exercises = tuple(msgspec.structs.replace(e, elective=True) for e in week.exercises)
    electives = msgspec.structs.replace(week, exercises=exercises, electives_counted=1)
    assert open_tasks(electives, WeekRecord(passed=["halve"])) == ["why"]


def test_the_answer_in_the_notebook_is_found(learner: LearnerFolder, week: Week) -> None:
    folder = learner.week(week)
    assert learner.answers(week) == {}
    answer(folder.path / f"{week.name}.ipynb", "why", "Because of $x$.")
    assert learner.answers(week) == {"why": "Because of $x$."}


@pytest.mark.parametrize("place", ["exercises", "solutions", "autograder/graders"])
def test_the_folder_is_not_a_part_of_the_course(course: Course, place: str) -> None:
    with pytest.raises(KitError, match="choose a different --folder"):
        LearnerFolder(course, course.root / place)


def test_a_folder_that_cannot_be_written_is_named(course: Course, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KitError, match=r"file/learn.* cannot be written"):
        LearnerFolder(course, tmp_path / "file" / "learn")
