"""Run attacks against a small course with planted canaries, in warm engines that are monitored.

A canary is a string that must never leave the grader. Canaries are planted in the grader's
environment, in comments of the solution, the grader and the registry, and in a neighbour's
submission. Hidden inputs are canaries too: submissions see them, feedback must not.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil

from autograder.batch.intake import Submission, read_submission
from autograder.feedback.render import feedback_page
from autograder.grading.engine import Engine
from autograder.grading.targets.confined_process import Spawner
from autograder.grading.targets.sandboxed import Sandboxed
from autograder.model.course import Suspects, Week, load
from autograder.model.report import scoring
from autograder.model.report.schema import SubmissionReport
from autograder.sandbox import Sandbox, choose
from autograder.worker.protocol import frames as wire
from tests.attacks.attackfiles import Attack
from tests.attacks.smallcourse import CANARIES, EXERCISES, small_course
from tests.courses import PROJECT

# The backend under attack; tests/container attacks a different one.
ATTACKED = os.environ.get("AUTOGRADER_ATTACKED", "bubblewrap")
# Used in addition to the CPU; cuda on a machine that has a GPU.
DEVICE = os.environ.get("AUTOGRADER_ATTACKS_DEVICE", "fake-gpu")
SECRET = b"CANARY-course-secret-0123456789ab"
NEIGHBOUR = "CANARY-neighbour"
LEFT_BEHIND = "CANARY-left-behind"
# Per answer. The memory that grading uses is measured, so the laboratory itself must use little.
_TEE_BYTES = 1 << 14
# Attacks may use this: it finds names of the worker's modules through NumPy's replaced ufuncs,
# spelt so that neither the source rules nor the audit hook detect it.
_ABOVE = """
def _above():
    import numpy
    inside = lambda function: getattr(function, "__slabolg__"[::-1])
    nets = inside(type(getattr(numpy, "pxeddagol"[::-1])).__call__)
    note = nets["_import_hook"].note
    watcher = inside(note)["_watching"]
    cell = getattr(watcher.tell, "__erusolc__"[::-1])[0]
    told = getattr(cell, "_".join(("cell", "contents")))
    found = {**nets, **inside(note), **inside(type(told).__call__)}
    found |= inside(found["Executor"].answer)
    return found | {"stamp": told.stamp}
"""
_INPUT = re.compile(r"CANARYINPUT[ _m]*-?[0-9a-j]")


class _Tee(Sandboxed):
    """The sandboxed submission; records its requests and replies."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.asked: list[bytes] = []
        self.answered: list[bytes] = []

    @property
    def waited(self) -> float:
        """Seconds subtracted from the submission's clocks because other processes used the CPU."""
        return self.clocks.forgiven

    def request(self, frame: bytes) -> Any:
        self.asked.append(frame)
        reply, buffers = super().request(frame)
        with contextlib.suppress(UnicodeEncodeError, msgspec.MsgspecError):
            said = [bytes(b[:_TEE_BYTES]) for b in buffers[:_TEE_BYTES]]
            self.answered.append(
                msgspec.json.encode(reply)[:_TEE_BYTES] + b"".join(said)[:_TEE_BYTES]
            )
        return reply, buffers


# Short because there are many attacks, but long enough for the optional steps to run.
_LINES = Suspects(seconds=0.1, submission=0.2)


class _Watched(Engine):
    """An engine that records the targets it created for one submission."""

    tees: list[_Tee]

    def renew_sandbox(self, sandbox: Sandbox) -> None:
        """Start a new template with the current limits for the next submission."""
        if self._spawner is not None:
            self._spawner.end()
        self._spawner = Spawner(sandbox, self.course, self.week, self.devices, self.limits)

    def target(self, files: Any, limits: Any = None, helpers: Any = None) -> Any:
        assert self._spawner is not None
        spawner, limits = self._spawner, limits or self.limits
        tee = _Tee(spawner.spawn, self.week.module, files, limits, spawner.gpu, helpers)
        self.tees.append(tee)
        return tee


@dataclass(frozen=True)
class Trial:
    """The result of a submission: report, page, output and duration.

    seconds: wall-clock time without the time in which other processes used the CPU
    """

    report: SubmissionReport
    page: str
    said: bytes
    inputs: frozenset[str]
    seconds: float
    risen: int  # bytes by which the peak memory of this process rose

    @property
    def shown(self) -> str:
        """Return everything that leaves the grader, without the duration: its digits are chance."""
        report = msgspec.structs.replace(self.report, seconds=0.0)
        return msgspec.json.encode(report).decode() + self.page

    def verdicts(self, exercise: str) -> set[str]:
        if self.report.verdict != "graded":
            return {self.report.verdict}
        tests = [t for e in self.report.exercises if e.name == exercise for t in e.tests]
        return {t.verdict for t in tests}

    @property
    def passed(self) -> set[str]:
        """Return the names of the hidden test functions that the submission passed."""
        tests = [t for e in self.report.exercises for t in e.tests if t.verdict == "pass"]
        return {re.split(r"::|\[", t.name)[1] for t in tests}

    def score(self, exercise: str) -> float:
        return sum(e.score for e in self.report.exercises if e.name == exercise)


class Laboratory:
    """The course, its engines, and the report of an honest neighbour for comparison."""

    def __init__(self, folder: Path, weeks: tuple[str, ...] = tuple(EXERCISES)) -> None:
        self.root = small_course(folder / "course", weeks)
        self.course = load(self.root)
        self.sandbox = choose(ATTACKED)
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self._outside = tempfile.tempdir, os.environ.get("TMPDIR")
        tempfile.tempdir = os.environ["TMPDIR"] = str(self.temporary)
        self.before = _surroundings(self.temporary)
        os.environ["GRADER_TOKEN"] = CANARIES[0]
        self._engines: dict[str, _Watched] = {}
        self._honest: dict[str, bytes] = {}

    def week(self, name: str) -> Week:
        return self.course.week(name)

    def solution(self, week: str) -> str:
        """Return the solution without the planted canary, as a good student would write it."""
        return (PROJECT / "solutions" / week / self.week(week).module).read_text(encoding="utf-8")

    def engine(self, week: str) -> _Watched:
        if week not in self._engines:
            chosen, devices = self.week(week), ("cpu", DEVICE)
            spawner = Spawner(self.sandbox, self.course, chosen, devices)
            engine = _Watched(self.course, chosen, devices, SECRET, spawner)
            engine.tees = []
            engine.locate_mistakes(_LINES)
            self._engines[week] = engine
        return self._engines[week]

    def submission(self, attack: Attack, place: Path) -> Submission:
        """Return the attack as a submission."""
        week = self.week(attack.week)
        path = made(attack, place, self.solution(attack.week), week.module)
        return read_submission(path, week, self.course.limits(week))

    def grade(self, submission: Submission, week: str) -> Trial:
        engine, started, waited = self.engine(week), time.monotonic(), _waited_seconds()
        engine.tees = []
        before = _begin_of_peak()
        if submission.problem:
            report = scoring.refused(submission.name, self.week(week), submission.problem)
        else:
            report = engine.grade(submission.name, submission.files)
        risen = _memory("VmHWM") - before
        seconds = time.monotonic() - started - (_waited_seconds() - waited)
        seconds -= sum(tee.waited for tee in engine.tees)
        page = feedback_page(report, self.week(week), self.course)
        said = b"\n".join(a for tee in engine.tees for a in tee.answered)
        asked = [frame for tee in engine.tees for frame in tee.asked]
        return Trial(report, page, said, _digits(asked), seconds, risen)

    def honest(self, week: str) -> bytes:
        """Grade the neighbour's submission now and return its report without timings."""
        source = self.solution(week) + f"\n# {NEIGHBOUR}\n"
        trial = self.grade(Submission("neighbour", {self.week(week).module: source.encode()}), week)
        return plain(trial.report)

    def always(self, week: str) -> bytes:
        """Return the neighbour's report from before any attack."""
        if week not in self._honest:
            # The first run imports modules and fills caches, which costs time and memory once. That
            # includes the misconceptions, which run when an exercise fails.
            wrong = re.sub(r"^(    )return .*", r"\1return 1", self.solution(week), flags=re.M)
            self.grade(Submission("wrong", {self.week(week).module: wrong.encode()}), week)
            self.honest(week)
            self._honest[week] = self.honest(week)
        return self._honest[week]

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()
        for name in ("GRADER_TOKEN", "TMPDIR"):
            os.environ.pop(name, None)
        tempfile.tempdir, outside = self._outside
        if outside is not None:
            os.environ["TMPDIR"] = outside

    def left(self) -> set[str]:
        """Return processes, mounts and temporary files that did not exist before."""
        return _surroundings(self.temporary) - self.before


def made(attack: Attack, place: Path, solution: str, module: str) -> Path:
    """Write the file or folder that the attack submits."""
    if attack.makes:
        scope: dict[str, Any] = {}
        exec(compile(attack.body, attack.path, "exec"), scope)
        path: Path = scope["make"](place, attack.variant, solution)
        return path
    path = place / "mallory"
    path.mkdir()
    first, *others = re.split(r"^#--- ", attack.body, flags=re.M)
    base = solution if attack.base == "solution" else ""
    source = (
        f"{base}\n{_ABOVE}\n\nVARIANT = {attack.variant!r}\n{first}" if base else first.lstrip("\n")
    )
    (path / module).write_text(source, encoding="utf-8")
    for other in others:
        name, _, content = other.partition("\n")
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(content, encoding="utf-8")
    return path


def _waited_seconds() -> float:
    """Return how long the threads of this process were runnable while others had the CPU."""
    found = 0.0
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # the thread has ended
            found += int(path.read_text(encoding="ascii").split()[1]) / 1e9
    return found


def _begin_of_peak() -> int:
    """Reset the peak memory of this process and return its current memory."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(which: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(rf"^{which}:\s+(\d+) kB", status, re.M)[1]) << 10  # type: ignore[index]


def plain(report: SubmissionReport) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(report, seconds=0.0))


def inputs_in(trial: Trial) -> set[str]:
    """Return traces of hidden inputs in the visible text: our marker, or six digits of a value."""
    marks = set(_INPUT.findall(trial.shown))
    runs = re.findall(r"\d{6,}", re.sub(r"(?<=\d)\.(?=\d)", "", trial.shown))
    return marks | {i for i in trial.inputs if any(i in run for run in runs)}


def _digits(frames: list[bytes]) -> frozenset[str]:
    """Return six digits of each float32 among the inputs that were sent."""
    found = set()
    for frame in frames:
        header, body = wire.frame_lengths(frame[: wire.PREFIX.size])
        start = wire.PREFIX.size + header
        data = frame[start : start + min(body, 4096) // 4 * 4]
        for (value,) in struct.iter_unpack("<f", data):
            digits = f"{abs(value):.6g}".replace(".", "").lstrip("0")
            if len(digits) == 6 and digits.isdecimal() and digits.strip("0123456789") == "":
                found.add(digits)
    return frozenset(d for d in found if len(set(d)) > 2)


def _surroundings(temporary: Path) -> set[str]:
    children = psutil.Process().children(recursive=True)
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    own = [n for n in os.listdir(temporary) if not n.startswith("torchinductor")]
    files = [f"file {temporary}/{n}" for n in own]
    for place in ("/dev/shm", "/tmp"):
        files += [
            f"file {place}/{n}" for n in os.listdir(place) if n.startswith(("attack-", "seen"))
        ]
    commands = []
    for child in children:
        with contextlib.suppress(psutil.Error):  # the process has ended or is a zombie
            commands.append(" ".join(child.cmdline())[:120])
    # multiprocessing keeps its resource tracker running until the interpreter exits
    left = {f"process {c}" for c in commands if "resource_tracker" not in c}
    return left | set(mounts) | set(files)
