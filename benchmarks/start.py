"""Measure the start-up time of commands, and how fast students and instructors get results.

    python -m benchmarks.start

- Commands that do not need torch: time, heavy imports and slowest imports.
- `check` on one exercise, compared with importing torch and pytest.
- `watch`: time from saving a file to the first and to the last line of output.
- `grade` on one correct submission, compared with importing torch.

On a busy machine, processor time is more reliable than wall-clock time, so both are reported.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import astuple
from pathlib import Path

from autograder.model.course import load

from .measure import ROOT, Cost, run
from .results import table, write_section
from .sample import course_copy, lay, take

# Commands that must start fast. No week is named `nowhere`, so the last three report an error.
QUICK = (
    ["--help"],
    ["grade", "--help"],
    ["check", "--help"],
    ["hint", "softmax"],
    ["progress"],
    ["export", "nowhere"],
    ["report", "nowhere"],
    ["grade", "nowhere"],
)
_REPEATS = 3
_HEAVY = ("torch", "nbgrader", "pytest", "matplotlib", "distributed", "numpy")


def imported(arguments: list[str], cwd: Path) -> tuple[list[str], list[str]]:
    """Return the ten slowest imports of a command with their times, and its heavy libraries."""
    command = [sys.executable, "-X", "importtime", "-m", "autograder", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    found = re.findall(r"import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)", done.stderr)
    slow = sorted(((int(own), name) for own, _, name in found), reverse=True)[:10]
    names = {name.split(".")[0] for _, _, name in found}
    return [f"{name} {own / 1000:.1f} ms" for own, name in slow], [h for h in _HEAVY if h in names]


def started(arguments: list[str], cwd: Path) -> tuple[float, float]:
    """Return the median wall-clock time and processor time of a command, in seconds."""
    walls, cpus = [], []
    with tempfile.TemporaryDirectory() as place:
        for _ in range(_REPEATS + 1):
            cost = _run([sys.executable, "-m", "autograder", *arguments], cwd, Path(place) / "log")
            walls.append(cost[0])
            cpus.append(cost[1])
    return statistics.median(walls[1:]), statistics.median(cpus[1:])


def _run(command: list[str], cwd: Path, log: Path) -> tuple[float, float]:
    shell = ["/bin/sh", "-c", '"$@"; true', "sh", *command]  # the exit code may be 1 or 2
    cost = run(shell, cwd, log)
    return cost.wall, cost.cpu


def checking(folder: Path) -> tuple[float, float]:
    """Measure `check softmax` and importing torch and pytest, alternately.

    Return both median processor times in seconds.
    """
    checks, imports = [], []
    for _ in range(_REPEATS):
        log = folder.parent / "log"
        command = [sys.executable, "-m", "autograder", "check", "softmax"]
        checks.append(run(command, folder, log).cpu)
        imports.append(run([sys.executable, "-c", "import torch, pytest"], folder, log).cpu)
    return statistics.median(checks), statistics.median(imports)


def first_verdict(place: Path) -> tuple[Cost, Cost, Cost]:
    """Measure `grade` on one correct submission, and importing torch, alternately.

    Return the median costs of grading without caches, grading with the cached outputs of the
    course's programs, and importing torch.
    """
    course, week = course_copy(place / "course", load(ROOT).weeks[0].name)
    (path,) = lay(place / "class", week, take(course, week, 1))
    command = [sys.executable, "-m", "autograder", "grade", week.name, path]
    command += ["--jobs", "1", "--device", "fake-gpu", "--json", place / "report.json"]
    found: dict[str, list[Cost]] = {"new": [], "again": [], "torch": []}
    for _ in range(_REPEATS):
        for kind in found:
            for known in ("results", "bank") if kind == "new" else ("results",):
                shutil.rmtree(course.state / known, ignore_errors=True)
            words = [sys.executable, "-c", "import torch"] if kind == "torch" else command
            found[kind].append(run(words, course.root, place / "log"))
    new, again, torch = (
        Cost(*(statistics.median(values) for values in zip(*map(astuple, costs), strict=True)))
        for costs in found.values()
    )
    return new, again, torch


def watching(folder: Path, module: str) -> tuple[float, float]:
    """Run `watch` and save the module repeatedly.

    Return the median times from a save to the first and to the last line of output, in seconds.
    """
    command = [sys.executable, "-u", "-m", "autograder", "watch"]
    said: list[tuple[float, str]] = []
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        output = process.stdout
        assert output is not None

        def read() -> None:
            for line in output:
                said.append((time.perf_counter(), line))

        reader = threading.Thread(target=read)
        reader.start()
        try:
            _quiet(said, 60.0, 8.0)
            firsts, lasts = [], []
            for number in range(_REPEATS):
                before = len(said)
                path = folder / module  # this change affects only one exercise
                text = path.read_text(encoding="utf-8")
                text = re.sub(r"# BEGIN SOLUTION|saved = \d+", f"saved = {number}", text, count=1)
                path.write_text(text, encoding="utf-8")
                saved = time.perf_counter()
                _quiet(said, 60.0, 5.0, before)
                firsts.append(said[before][0] - saved)
                lasts.append(said[-1][0] - saved)
        finally:
            process.terminate()
            reader.join()
    return statistics.median(firsts), statistics.median(lasts)


def _quiet(said: list[tuple[float, str]], most: float, quiet: float, after: int = 0) -> None:
    """Wait until there is new output, followed by a pause.

    Raise RuntimeError if there is no new output within the time limit.

    said:  list of output lines with their times, filled by the reader thread
    most:  time limit in seconds
    quiet: length of the pause in seconds
    after: number of lines that are not new
    """
    deadline = time.perf_counter() + most
    while time.perf_counter() < deadline:
        if len(said) > after and time.perf_counter() - said[-1][0] > quiet:
            return
        time.sleep(0.01)
    if len(said) <= after:
        raise RuntimeError(f"`watch` printed no output within {most:.0f} s")


def student_folder(place: Path) -> Path:
    """Create a student's folder for week 1 with the solution in the module; return the folder."""
    from autograder.authoring.lesson.handout import week_files

    course = load(ROOT)
    week = course.weeks[0]
    folder = place / week.name
    files = week_files(course, week) | {week.module: course.solution(week).read_bytes()}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def main() -> None:
    rows, imports = [], []
    for arguments in QUICK:
        wall, cpu = started(arguments, ROOT)
        slow, heavy = imported(arguments, ROOT)
        shown = f"`autograder {' '.join(arguments)}`"
        rows.append((shown, f"{wall:.2f}", f"{cpu:.2f}", ", ".join(heavy) or "none"))
        imports.append(f"- {shown}: {', '.join(slow)}")
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = student_folder(Path(place))
        check, bare = checking(folder)
        first, last = watching(folder, load(ROOT).weeks[0].module)
        new, again, torch = first_verdict(Path(place))
    write_section(
        "start",
        "Start-up",
        table(("command", "wall s", "CPU s", "heavy imports"), rows)
        + f"\n\n`check softmax` takes {check:.2f} s of processor time, which is "
        f"{check / bare:.2f} times as much as importing torch and pytest ({bare:.2f} s). `watch` "
        f"prints its first line {first:.2f} s after a save, and its last line after {last:.2f} s."
        f"\n\n`grade` on one correct submission of week 1 takes {new.wall:.2f} s of wall-clock "
        f"time and {new.cpu:.2f} s of processor time, or {again.wall:.2f} s and {again.cpu:.2f} s "
        "if the outputs of the course's programs are cached. Importing torch takes "
        f"{torch.wall:.2f} s and {torch.cpu:.2f} s, so that grading takes "
        f"{new.wall / torch.wall:.2f} times as long, and {new.cpu / torch.cpu:.2f} times the "
        "processor time, because two processes import torch.\n\n"
        "The slowest imports of each command:\n\n" + "\n".join(imports),
    )


if __name__ == "__main__":
    main()
