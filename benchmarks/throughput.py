"""Compare the throughput of four graders on the same submissions and hidden tests.

    python -m benchmarks.throughput [--weeks week01_softmax,…|all] [--n 2] [--rounds 1]
                                    [--class 200,60] [--at-once 2]

In each round, every grader grades the same `--n` submissions; each round uses different ones. The
results are medians over rounds.

The kit's start-up cost dominates in such small classes, so the kit also grades larger classes. The
first number of `--class` is the size in the first week of the course, the second number the size in
all other weeks. There are three classes:

- A simulated class (`tests/simulation/plan.py`): at most three mistakes per submission, and
  different names of local variables.
- The same class without locating mistakes.
- A class with one program of the bank per student, so that few students share a mistake.

The other graders start a new process or kernel for each submission, so for them the cost per
submission does not depend on the size of the class.

The lower bound is the cost of the function calls and an empty process (`benchmarks.floor`).
`--at-once` weeks are measured in parallel, each on one core.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autograder.model.course import Course, Week, load
from tests.simulation.plan import make_plan

from . import floor, graders
from .generate import variant
from .graders import Chosen, Grader, Passed
from .measure import ROOT, Cost
from .results import table, write_section
from .sample import course_copy, take

GRADERS: dict[str, Grader] = {
    "this kit": graders.kit,
    "nbgrader autograde": graders.nbgrader,
    "otter run": graders.otter,
    "pytest per submission": graders.pytest,
}
CLASS = "a class"
NAMES = "a class, without localization"
WRONG = "a class with different mistakes"
CLASSES = (CLASS, NAMES, WRONG)
_SEED = 1  # seed for the mistakes of the simulated class


@dataclass
class Rows:
    """Costs per submission in one week, by grader; each list has one item per round.

    wall, cpu: seconds
    memory:    peak memory in MiB
    limit:     lower bound of the processor time in seconds
    """

    wall: dict[str, list[float]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    memory: dict[str, list[float]] = field(default_factory=dict)
    limit: float = 0.0

    def add(self, name: str, wall: float, cpu: float, memory: float) -> None:
        self.wall.setdefault(name, []).append(wall)
        self.cpu.setdefault(name, []).append(cpu)
        self.memory.setdefault(name, []).append(memory)

    def median(self, name: str) -> tuple[float, float, float]:
        values = (self.wall[name], self.cpu[name], self.memory[name])
        wall, cpu, memory = (statistics.median(v) for v in values)
        return wall, cpu, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weeks", default="all", help="comma-separated, or all")
    parser.add_argument("--n", type=int, default=2, help="number of submissions per week and round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument(
        "--class", default="200,60", dest="sizes", help="sizes of the kit's classes"
    )
    parser.add_argument(
        "--at-once", type=int, default=2, help="number of weeks in parallel, one per core"
    )
    parser.add_argument("--part", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if missing := graders.needs():
        parser.exit(2, f"{missing}\n")
    every = [w.name for w in load(ROOT).weeks]
    weeks = every if chosen.weeks == "all" else chosen.weeks.split(",")
    first, others = (int(size) for size in chosen.sizes.split(","))
    sizes = {week: first if week == every[0] else others for week in weeks}
    if chosen.part is not None:
        (week,) = weeks
        measured = measure_week(week, chosen.n, chosen.rounds, sizes[week])
        chosen.part.write_bytes(msgspec.json.encode(measured))
        return
    found = _side_by_side(weeks, chosen)
    rows = {week: measured for week, (measured, _) in found.items()}
    sections = [_section(w, *r, chosen.n, sizes[w]) for w, r in found.items()]
    figure = Path(__file__).with_name("throughput.svg")
    draw(rows, chosen.n, sizes, figure)
    write_section(
        "throughput",
        "Throughput",
        f"Rounds: {chosen.rounds}. Submissions per round: {chosen.n}, from the bank (solution, "
        f"alternatives and misconceptions). Weeks in parallel: {chosen.at_once}. The graders of a "
        "week take turns on one core. All figures are medians over rounds, and include start-up. "
        "All graders use the same tests, inputs and devices (CPU and fake "
        "GPU), but only the kit runs submissions in a sandbox, and names and locates mistakes. "
        "Its class is simulated, with up to three mistakes per submission. Figures in parentheses "
        "are without locating mistakes (`suspects: {seconds: 0}`). In the class with different "
        "mistakes, few submissions share a mistake. Ratios compare processor times.\n\n"
        + _summary(rows, sizes)
        + "\n\n"
        + "\n\n".join(sections)
        + f"\n\n![Processor time per submission]({figure.name})",
    )


def _side_by_side(weeks: list[str], chosen: argparse.Namespace) -> dict[str, tuple[Rows, str]]:
    """Measure weeks in parallel; return the costs and the agreement of verdicts for each week.

    The last week starts first, because it takes longest.
    """
    given = [f"--n={chosen.n}", f"--rounds={chosen.rounds}", f"--class={chosen.sizes}"]
    cores = queue.SimpleQueue[int]()
    for core in sorted(os.sched_getaffinity(0))[: max(1, chosen.at_once)]:
        cores.put(core)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:

        def measured(week: str) -> tuple[Rows, str]:
            core, part = cores.get(), Path(place) / week
            try:
                command = ["taskset", "--cpu-list", str(core), sys.executable, "-m"]
                command += ["benchmarks.throughput", f"--weeks={week}", f"--part={part}", *given]
                subprocess.run(command, cwd=ROOT, check=True)
            finally:
                cores.put(core)
            return msgspec.json.decode(part.read_bytes(), type=tuple[Rows, str])

        with ThreadPoolExecutor(max(1, chosen.at_once)) as pool:
            found = dict(zip(weeks[::-1], pool.map(measured, weeks[::-1]), strict=True))
    return {week: found[week] for week in weeks}


def _summary(by_week: dict[str, Rows], sizes: dict[str, int]) -> str:
    """Return a table that compares the processor time of the other graders with the kit's."""
    others = [name for name in GRADERS if name != "this kit"]
    lines = []
    for week, rows in by_week.items():
        unit, without, wrong = (rows.median(kind)[1] for kind in CLASSES)
        ratios = [
            f"{rows.median(name)[1] / unit:.1f} ({rows.median(name)[1] / without:.1f})"
            for name in others
        ]
        costs = f"{unit:.2f} ({without:.2f})", f"{wrong:.2f}"
        lines.append((week, str(sizes[week]), f"{rows.limit:.2f}", *costs, *ratios))
    kit = "this kit, CPU s per submission", "different mistakes, CPU s"
    head = ("week", "class size", "lower bound, CPU s", *kit, *(f"{n}, ratio" for n in others))
    return table(head, lines)


def measure_week(name: str, n: int, rounds: int, size: int) -> tuple[Rows, str]:
    """Measure all graders on one week; return their costs and the agreement with the kit.

    n:    number of submissions per round
    size: size of the kit's classes
    """
    rows, same, all_of_them = Rows(), 0, 0
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="bench-") as place:
            course, week = course_copy(Path(place) / "course", name)
            few = take(course, week, n, skip=number * n)
            verdicts: dict[str, Passed] = {}
            order = [*GRADERS][number % len(GRADERS) :] + [*GRADERS][: number % len(GRADERS)]
            costs: dict[str, Cost] = {}
            for grader in order:
                print(f"{name}, round {number + 1}: {grader}", flush=True)
                folder = Path(place) / grader.replace(" ", "-").replace(",", "")
                folder.mkdir()
                costs[grader], verdicts[grader] = GRADERS[grader](folder, course, week, few)
                cost = costs[grader]
                rows.add(grader, cost.wall / n, cost.cpu / n, cost.memory)
            for kind in CLASSES:
                large = _class_of(Path(place) / kind, size, number, name, kind)
                rows.add(kind, large.wall / size, large.cpu / size, large.memory)
            for student, passed in verdicts["this kit"].items():
                for grader in order:
                    other = verdicts[grader][student]
                    same += sum(other[e] == p for e, p in passed.items())
                    all_of_them += len(passed)
            shutil.rmtree(course.state, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        rows.limit = floor.limit(*course_copy(Path(place) / "course", name))
    return rows, f"{same} of {all_of_them} verdicts on exercises agree with the kit."


def _class_of(place: Path, size: int, number: int, name: str, kind: str) -> Cost:
    course, week = course_copy(place / "course", name)
    if kind == NAMES:
        registry = course.root / "course.yaml"
        text = registry.read_text(encoding="utf-8")
        registry.write_text(f"{text}\nsuspects: {{seconds: 0}}\n", encoding="utf-8")
    folder = place / "class"
    folder.mkdir()
    if kind == WRONG:
        many: Chosen = take(course, week, size, skip=number * size)
    else:
        many = simulated(course, week, size, _SEED + number)
    print(f"{name}, round {number + 1}: {_label(kind, 0, size)}", flush=True)
    cost, _ = graders.kit(folder, course, week, many)
    return cost


def simulated(course: Course, week: Week, size: int, seed: int) -> Chosen:
    """Return the last submissions of the students in a simulated course."""
    plan = make_plan(course, size, seed)
    parts = ((student, plan.of(student, week)) for student in plan.students)
    return [
        (student, variant(part.last.source, number))
        for number, (student, part) in enumerate(parts)
        if part is not None
    ]


def _section(week: str, rows: Rows, agreement: str, n: int, size: int) -> str:
    _, unit, _ = rows.median(CLASS)
    lines = []
    for name in (*CLASSES, *GRADERS):
        wall, cpu, memory = rows.median(name)
        figures = (f"{1 / wall:.2f}", f"{cpu:.2f}", f"{memory:.0f}", f"{cpu / unit:.1f}")
        lines.append((_label(name, n, size), *figures))
    head = ("grader", "submissions/s", "CPU s per submission", "peak MiB", "ratio")
    return f"### {week}\n\n{table(head, lines)}\n\n{agreement}"


def _label(name: str, n: int, size: int) -> str:
    if name in CLASSES:
        return f"this kit, {name.replace('a class', f'a class of {size}')}"
    return f"this kit, a class of {n}" if name == "this kit" else name


def draw(by_week: dict[str, Rows], n: int, sizes: dict[str, int], path: Path) -> None:
    """Draw a bar chart of the processor time per submission, and write it to `path`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [*CLASSES, *GRADERS]
    figure, axes = pyplot.subplots(figsize=(7, 1.2 + 1.5 * len(by_week)), layout="constrained")
    labels: list[str] = []
    values: list[float] = []
    for week, rows in by_week.items():
        first, last = len(labels) - 0.4, len(labels) + len(names) - 0.6
        limit = axes.vlines(rows.limit, first, last, color="#cc3311", linewidth=2)
        for name in names:
            labels.append(f"{week.split('_')[0]}: {_label(name, n, sizes[week])}")
            values.append(rows.median(name)[1])
    colours = ["#4477aa" if "this kit" in label else "#bbbbbb" for label in labels]
    bars = axes.barh(labels, values, color=colours)
    axes.bar_label(bars, [f"{v:.2f}" if v < 1 else f"{v:.1f}" for v in values], padding=3)
    limit.set_label("lower bound: function calls and an empty process")
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(min(rows.limit for rows in by_week.values()) / 2, 2 * max(values))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel("processor time per submission in seconds (log scale)")
    figure.legend(loc="outside upper left", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
