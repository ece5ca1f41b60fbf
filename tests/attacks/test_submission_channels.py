"""Submit each attack of the first week through the page, the program and the exchange.

`make thorough` runs it. One student submits each attack, with the most permissive feedback
settings.
"""

from __future__ import annotations

import html
import io
import os
import shutil
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import markupsafe
import pytest

from autograder.model.course import Course, load
from autograder.model.course.stubs import stub_of, stub_path
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace
from autograder.serve.grading_service import DATABASE
from autograder.serve.login import Accounts, Person
from autograder.serve.tables import open_database
from tests.attacks.attackfiles import Attack
from tests.attacks.laboratory import LEFT_BEHIND, NEIGHBOUR, made
from tests.attacks.smallcourse import CANARIES, small_course
from tests.attacks.trying import last_variants
from tests.courses import PROJECT
from tests.serve.running import JSON, Running, running, until

pytestmark = pytest.mark.thorough
WEEK, MODULE = "week01_softmax", "softmax.py"
DOORS = ("page", "program", "exchange")
TRIED = last_variants(WEEK)[:: int(os.environ.get("AUTOGRADER_EVERY", "1"))]
STUDENTS = [f"s{number:03}" for number in range(len(TRIED))]
SOLUTION = (PROJECT / "solutions" / WEEK / MODULE).read_text("utf-8")
_PLACING = threading.Lock()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = small_course(tmp_path_factory.mktemp("doors") / "course", (WEEK,))
    make_whole(root)
    registry = (root / "course.yaml").read_text("utf-8")
    policy = "\nimmediate: {show: scores, tries: 1000, until: always}\n"
    (root / "course.yaml").write_text(registry + policy, "utf-8")
    course = load(root)
    release(course, course.weeks[0], early=True)
    with running(Running(root, "--device", "fake-gpu", GRADER_TOKEN=CANARIES[0])) as service:
        yield service


def make_whole(root: Path) -> None:
    """Update the student's files after exercises were removed."""
    module = root / "solutions" / WEEK / MODULE
    text = module.read_text("utf-8")
    assert CANARIES[1] in text
    module.write_text(text.replace(f"# {CANARIES[1]}\n", ""), "utf-8")  # would appear in the stub
    course = load(root)
    week = course.weeks[0]
    stub_path(course, week).write_text(stub_of(course, week), "utf-8")
    cells = [f'```python\ncheck("{e.name}")\n```\n' for e in week.exercises]
    cells += [f"<!-- answer: {q.name} -->\n" for q in week.questions]
    (course.exercise_folder(week) / "lesson.md").write_text("\n".join(cells), "utf-8")


class Mallory:
    """One student with one attack."""

    def __init__(self, service: Running, course: Course, people: Accounts, number: int) -> None:
        self.name, self.attack = STUDENTS[number], TRIED[number]
        self.channel, self.url = DOORS[number % 3], service.url
        kind: Any = "browser" if self.channel == "page" else "program"
        self.person: Person = people.start_session(self.name, "student", kind)
        self.course = course
        self.client = self._client()

    def _client(self) -> httpx.Client:
        if self.channel == "page":
            cookies = {"autograder-session": self.person.key}
            return httpx.Client(base_url=self.url, cookies=cookies, timeout=60)
        own = {"authorization": f"Bearer {self.person.key}"}
        return httpx.Client(base_url=self.url, headers=JSON | own, timeout=60)

    def hand_in(self, path: Path) -> httpx.Response | None:
        """Submit the attack and return the response; the exchange has no response."""
        where = f"/weeks/{WEEK}/tries"
        if self.channel == "page":
            sent = [("files", (name, data)) for name, data in files_of(path).items()]
            form = {"key": self.person.form_key}
            return self.client.post(where, data=form, files=sent or None)
        if self.channel == "program":
            kind = {"content-type": "application/zip"}
            return self.client.post(where, content=zip_of(path), headers=kind)
        left = Workspace(self.course).exchange / self.course.id / "inbound"
        stamp = time.strftime("%Y-%m-%d %H:%M:%S.000000 UTC", time.gmtime())
        folder = left / f"{self.name}+{WEEK}+{stamp}+abc"
        target = path if path.is_dir() else folder
        if path.is_dir():
            with _PLACING:
                shutil.copytree(target, folder, symlinks=True, ignore=no_pipes)
        else:
            folder.mkdir()
            shutil.copy(path, folder / path.name)
        (folder / "timestamp.txt").write_text(stamp)
        (folder / "submission_secret.txt").write_text("5" * 128)
        return None

    def told(self) -> str:
        """Return all feedback about the result, or "" if there is no result."""
        own = {"authorization": "", "cookie": f"autograder-session={self.person.key}"}
        week = self.client.get(f"/weeks/{WEEK}", headers=JSON).json()
        (one,) = week["earlier"]
        path = f"/tries/{one['receipt']}"

        def done() -> dict[str, Any] | None:
            said: dict[str, Any] = self.client.get(path, headers=JSON).json()
            return said if said["state"] == "graded" else None

        self.result = until(done, 300, every=1.0)
        page = self.client.get(path, headers=own if self.channel == "page" else {}).text
        return without_examples(self.result, page)


def without_examples(result: dict[str, Any], page: str) -> str:
    """Return a result and its page without counterexamples, whose inputs are public."""
    said, parts = str(result) + page, ("call", "expected", "actual", "cell", "wrong_value")
    for exercise in (result.get("result") or {}).get("exercises", ()):
        example = exercise.get("counterexample") or {}
        for part in filter(None, map(example.get, parts)):
            for written in (part, repr(part)[1:-1], str(markupsafe.escape(part))):
                said = said.replace(written, "")
    return said


def no_pipes(folder: str, names: list[str]) -> list[str]:
    """Ignore pipes, because `copytree` would block on them."""
    return [n for n in names if not (p := Path(folder, n)).is_file() and not p.is_dir()]


def files_of(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {path.name: path.read_bytes()}
    found = {}
    for one in sorted(path.rglob("*"))[:300]:
        if one.is_file() and one.stat().st_size < 8 << 20:
            found[f"mallory/{one.relative_to(path).as_posix()}"] = one.read_bytes()
    return found


def zip_of(path: Path) -> bytes:
    if path.is_file() and path.suffix == ".zip":
        return path.read_bytes()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files_of(path).items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return stream.getvalue()


def problems_of(mallory: Mallory, place: Path) -> list[str]:
    attack, name = mallory.attack, f"{mallory.attack.name} ({mallory.channel})"
    place.mkdir()
    try:
        answer = mallory.hand_in(made(attack, place, SOLUTION, MODULE))
    except (OSError, shutil.Error, httpx.InvalidURL, UnicodeError, ValueError):
        return []  # the client refuses to send it
    if answer is not None and answer.status_code not in (201, 303):
        bad = leaks(answer.text, attack)
        allowed = answer.status_code in (400, 413, 422)
        return [f"{name}: {answer.status_code}: {b}" for b in bad or ([""] * (not allowed))]
    if answer is None and not arrives(mallory):
        return []  # the attack replaced all regular files
    found = leaks(mallory.told(), attack)
    for exercise in mallory.result["result"]["exercises"] if not found else ():
        most = attack.most.get(exercise["name"])
        if most is not None and exercise["score"] > most:
            found.append(f"{exercise['name']} earned {exercise['score']}")
    return [f"{name}: {each}" for each in found]


def arrives(mallory: Mallory) -> bool:
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        if mallory.client.get(f"/weeks/{WEEK}", headers=JSON).json()["earlier"]:
            return True
        time.sleep(0.5)
    return False


def leaks(said: str, attack: Attack) -> list[str]:
    plain = html.unescape(said)
    secrets = (*CANARIES, NEIGHBOUR, LEFT_BEHIND, str(PROJECT))
    found = [f"{s} is told" for s in secrets if s in plain and s not in attack.body]
    found += [f"{m} acts" for m in ("<script>alert", "<img src=x", "\x1b") if m in said]
    return found + ["hidden inputs are disclosed"] * ("CANARYINPUT" in plain)


def test_no_attack_gains_or_learns_anything_through_a_door(served: Running, tmp_path: Path) -> None:
    course = load(served.course)
    people = Accounts(open_database(f"sqlite:///{course.state / DATABASE}"))
    crowd = [Mallory(served, course, people, number) for number in range(len(TRIED))]
    honest = people.start_session("honest", "student", "program")
    prof = people.start_session("prof", "instructor", "program")
    people.engine.dispose()
    with ThreadPoolExecutor(6) as pool:
        places = [tmp_path / m.name for m in crowd]
        problems = [p for found in pool.map(problems_of, crowd, places) for p in found]
    for mallory in crowd:
        mallory.client.close()
    assert problems == []
    assert len([m for m in crowd if hasattr(m, "result")]) > len(crowd) / 2
    own = {"authorization": f"Bearer {honest.key}"}
    with httpx.Client(base_url=served.url, headers=JSON | own, timeout=60) as client:
        work = [("files", (MODULE, SOLUTION.encode()))]
        receipt = client.post(f"/weeks/{WEEK}/tries", files=work).json()["receipt"]
        until(lambda: client.get(f"/tries/{receipt}").json()["state"] == "graded", 120)
        told = client.get(f"/tries/{receipt}").json()["result"]
        assert told["score"] == told["max_score"]
        view = client.get("/class", headers={"authorization": f"Bearer {prof.key}"}).json()
    assert [lane["deaths"] for lane in view["processes"]] == [0] * len(view["processes"])
    assert [t for t in view["incidents"] if "exchange" not in t] == []
    assert httpx.get(f"{served.url}/health").text == "well\n"
