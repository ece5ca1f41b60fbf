"""The service as a process, with the real engine, nbgrader's exchange and its gradebook."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from autograder.model.course import Course, load
from autograder.nbgrader.gradebook.database import read_gradebook
from autograder.nbgrader.gradebook.report_store import stored_report
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace
from autograder.sandbox import SandboxMissing, choose
from autograder.student.folder.packing import RECEIPTS, pack
from autograder.student.folder.week import open_folder
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write, write_course
from tests.serve.conftest import FUTURE
from tests.serve.running import Running, asked, hand_in, result, running, submit, until

ME = pwd.getpwuid(os.getuid()).pw_name
SQUARES = SOLUTION.replace("x + x", "x**2")
OPTIONS = ("--jobs", "1", "--device", "cpu")


@pytest.fixture(scope="module", autouse=True)
def _sandbox() -> None:
    try:
        choose("bubblewrap")
    except SandboxMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("service") / "course"
    write_course(root)
    policy = "counts: best\nimmediate: {show: scores, tries: 100}\n"
    (root / "course.yaml").write_text(FUTURE + policy, "utf-8")
    course = load(root)
    release(course, course.weeks[0])
    roster = root / "class.csv"
    roster.write_text(f"student,name\nada,\nalan,\ns1,\ns4,\n{ME},\n", "utf-8")
    Running(root).command("roster", str(roster))
    return course


@pytest.fixture(scope="module")
def served(course: Course) -> Iterator[Running]:
    home = course.root.parent / "home"
    with running(Running(course.root, *OPTIONS, HOME=str(home))) as service:
        yield service


@pytest.fixture(scope="module")
def people(served: Running) -> Iterator[dict[str, httpx.Client]]:
    found = {name: served.enter(token) for name, token in served.tokens().items()}
    yield found
    for client in found.values():
        client.close()


def recorded(course: Course, student: str) -> float | None:
    """The student's score in nbgrader's gradebook."""
    _, entries = read_gradebook(course)
    scores = [e.score for e in entries if e.student == student and e.graded]
    return scores[0] if scores else None


def work(number: int, source: str = SOLUTION) -> dict[str, bytes]:
    return {"doubling.py": f"{source}\n# {number}\n".encode()}


def test_what_is_handed_in_is_graded_told_and_in_the_gradebook(course, people) -> None:
    ada = people["ada"]
    receipt = hand_in(ada, WEEK, work(1, SQUARES))
    told = result(ada, receipt["receipt"])["result"]
    (double, _) = told["exercises"]
    assert [n["title"] for n in double["named"]] == ["Squares instead of doubling."]
    assert told["score"] == until(lambda: recorded(course, "ada"))
    receipt = hand_in(ada, WEEK, work(2))
    assert result(ada, receipt["receipt"])["result"]["score"] == 3.0
    until(lambda: recorded(course, "ada") == 3.0)


def test_the_best_try_stays_where_the_best_one_counts(course, people) -> None:
    ada = people["alan"]
    for number, source in ((1, SOLUTION), (2, SQUARES)):
        receipt = hand_in(ada, WEEK, work(number, source))
        result(ada, receipt["receipt"])
    assert result(ada, receipt["receipt"])["result"]["score"] < 3.0
    until(lambda: recorded(course, "alan") == 3.0)


def test_submit_prints_a_receipt_and_knows_the_machine_from_then_on(
    course: Course, served: Running, tmp_path: Path
) -> None:
    folder, home = tmp_path / WEEK, tmp_path / "home"
    shutil.copytree(Workspace(course).outbound(course.weeks[0]), folder)
    write(folder, {"doubling.py": SOLUTION})
    to = ("--to", served.url)
    done = submit(folder, home, *to)
    assert done.returncode == 2
    assert "AUTOGRADER_TOKEN" in done.stderr
    token = served.tokens("--student", "s4")["s4"]
    done = submit(folder, home, *to, "--no-wait", AUTOGRADER_TOKEN=token)
    assert done.returncode == 0, done.stderr
    assert token not in done.stdout + done.stderr
    assert pack(open_folder(folder)).digest in done.stdout
    (keys,) = home.rglob("keys.json")
    assert keys.stat().st_mode & 0o077 == 0
    assert list(json.loads(keys.read_text("utf-8"))) == [f"{served.url}/"]
    write(folder, {"doubling.py": SQUARES})
    shown = submit(folder, home, *to)
    assert shown.returncode == 0, shown.stderr
    assert "It looks as if your code squares instead of doubling." in shown.stdout
    assert re.search(r"\d+ of 100 results left", shown.stdout)
    for source in (SOLUTION, f"{SQUARES}# once more\n"):
        write(folder, {"doubling.py": source})
        shown = submit(folder, home, *to, AUTOGRADER_TOKEN=token)  # still set, but used
        assert shown.returncode == 0, shown.stderr
    said = " ".join(shown.stdout.split())
    assert re.search(r"This submission scored .* scored 3\. Your best submission counts", said)


def test_what_comes_through_nbgrader_is_graded_and_fetched_by_nbgrader(
    course: Course, served: Running, tmp_path: Path
) -> None:
    """By the real `nbgrader submit`, which `autograder submit` calls, and `fetch_feedback`."""
    workspace, home, folder = Workspace(course), tmp_path / "home", tmp_path / WEEK
    settings = f"c.Exchange.root = {str(workspace.exchange)!r}\n"
    settings += f"c.CourseDirectory.course_id = {course.id!r}\n"
    write(home, {"config/nbgrader_config.py": settings})
    jupyter = {"JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_DATA_DIR": str(home / "data")}
    shutil.copytree(workspace.outbound(course.weeks[0]), folder)
    write(folder, {"doubling.py": SQUARES})
    write(folder, {"doubling (1).py": "x = 1"})
    done = submit(folder, home, "--exchange", **jupyter)
    assert done.returncode == 1, "one file needs a look"
    assert "LOOK  doubling (1).py is newer" in done.stdout
    digest = pack(open_folder(folder)).digest
    assert digest in done.stdout
    assert digest in (folder / RECEIPTS).read_text("utf-8")
    (taken,) = (workspace.exchange / course.id / "inbound").iterdir()
    assert not {"README.md", "doubling (1).py"} & {p.name for p in taken.iterdir()}
    until(lambda: recorded(course, ME) is not None)
    fetched = subprocess.run(
        [Path(sys.executable).parent / "nbgrader", "fetch_feedback", WEEK],
        cwd=tmp_path,
        env=os.environ | jupyter | {"HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    (page,) = (folder / "feedback").rglob("*.html")
    assert "squares instead of doubling" in page.read_text("utf-8"), fetched.stderr
    handed_in = stored_report(course, course.weeks[0], ME).handed_in
    assert taken.name.startswith(f"{ME}+{WEEK}+{handed_in}")


# When the service is killed: before grading, during grading or during recording.
MOMENTS = {"ada": "taken", "alan": "growing", "s1": "graded"}


def has_come(client: httpx.Client, receipt: str, moment: str) -> bool:
    """Return whether a try has come so far."""
    said = asked(client, receipt)
    if said is None:
        return False
    reached = {"taken": ("waiting", "running"), "growing": ("running",), "graded": ()}[moment]
    return said["state"] in (*reached, "graded")


@pytest.mark.thorough
def test_a_kill_at_any_moment_loses_no_receipt_and_honours_each_once(course, served, people):
    receipts = {}
    for number, (student, moment) in enumerate(MOMENTS.items()):
        receipts[student] = hand_in(people[student], WEEK, work(10 + number))["receipt"]
        until(lambda s=student, m=moment: has_come(people[s], receipts[s], m), every=0.01)
        served.kill()
        served.start()
    for student, receipt in receipts.items():
        assert result(people[student], receipt)["result"]["score"] == 3.0
        until(lambda student=student: recorded(course, student) == 3.0)
    _, entries = read_gradebook(course)
    assert len(entries) == len({e.student for e in entries})


def command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # a process of a submission that has ended in the meantime
        return ""


def test_a_killed_lane_costs_nobody_anything(served, people) -> None:
    ada = people["ada"]
    receipt = hand_in(ada, WEEK, work(20))["receipt"]
    lanes = [
        child
        for child in psutil.Process(served.process.pid).children(recursive=True)
        if "spawn_main" in command_of(child)
    ]
    for lane in lanes:
        lane.kill()
    assert result(ada, receipt)["result"]["score"] == 3.0


def test_a_second_service_of_the_same_project_is_refused(served, autograder) -> None:
    done = autograder("serve", "--port", "0", cwd=served.course)
    assert done.returncode == 2
    done = autograder("serve", "--port", "18999", cwd=served.course)
    assert done.returncode == 2
    assert "running already" in done.stderr


def test_it_ends_on_a_ctrl_c_and_leaves_nothing_behind(served, people) -> None:
    result(people["s1"], hand_in(people["s1"], WEEK, work(30))["receipt"])
    children = psutil.Process(served.process.pid).children(recursive=True)
    assert children
    assert served.stop() == 0
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []
    assert "Traceback" not in Path(served.log).read_text("utf-8")
