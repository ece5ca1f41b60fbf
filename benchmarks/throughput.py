"""The same submissions and the same hidden tests, four graders, in turns; medians.

    python -m benchmarks.throughput [--weeks week01_softmax,…|all] [--n 3] [--rounds 3]
                                    [--class 400]

`n` submissions go to each grader in each round, others in every round. What the kit costs once, to
start, weighs heavily in so small a class: in each round it also grades a class of `--class` from
the same bank. For the others a class costs what its submissions cost, one after the other.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from autograder.model.course import load

from . import graders
from .graders import Chosen, Grader, Passed
from .measure import ROOT, Cost
from .results import table, write_section
from .sample import course_copy, take

GRADERS: dict[str, Grader] = {
    "this kit": graders.kit,
    "nbgrader autograde": graders.nbgrader,
    "otter run": graders.otter,
    "pytest, one each": graders.pytest,
}
CLASS = "this kit, a whole class"


class Rows:
    """Costs per submission, by grader, one for each week and round."""

    def __init__(self) -> None:
        self.wall: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}
        self.memory: dict[str, list[float]] = {}

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
    parser.add_argument("--weeks", default="week01_softmax", help="comma-separated, or all")
    parser.add_argument("--n", type=int, default=3, help="submissions per week and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--class", type=int, default=400, dest="size", help="for the kit alone")
    chosen = parser.parse_args()
    if missing := graders.needs():
        parser.exit(2, f"{missing}\n")
    every = [w.name for w in load(ROOT).weeks]
    weeks = every if chosen.weeks == "all" else chosen.weeks.split(",")
    by_week = {week: measure_week(week, chosen.n, chosen.rounds, chosen.size) for week in weeks}
    body = "\n\n".join(_section(w, *r, chosen.n, chosen.size) for w, r in by_week.items())
    section = "throughput" if len(weeks) == 1 else "weeks"
    figure = Path(__file__).with_name(f"{section}.svg")
    draw({w: rows for w, (rows, _) in by_week.items()}, chosen.n, chosen.size, figure)
    write_section(
        section,
        "Throughput" if len(weeks) == 1 else "Throughput, week by week",
        f"{chosen.n} submissions (of solution, alternatives and misconceptions) in each of "
        f"{chosen.rounds} rounds, graders in turns, one core each; medians over rounds, start-up "
        "included. Same tests, inputs and devices (CPU and stand-in GPU) for all. Only the kit "
        "runs them in a sandbox and names misconceptions. The ratio is of processor time."
        f"\n\n{body}\n\n![seconds]({figure.name})",
    )


def measure_week(name: str, n: int, rounds: int, size: int) -> tuple[Rows, str]:
    """Costs by grader, and how far the graders' verdicts agree with the kit's."""
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
            large = _class_of(Path(place), size, number, name)
            rows.add(CLASS, large.wall / size, large.cpu / size, large.memory)
            for student, passed in verdicts["this kit"].items():
                for grader in order:
                    other = verdicts[grader][student]
                    same += sum(other[e] == p for e, p in passed.items())
                    all_of_them += len(passed)
            shutil.rmtree(course.state, ignore_errors=True)
    return rows, f"{same} of {all_of_them} verdicts on exercises equal the kit's."


def _class_of(place: Path, size: int, number: int, name: str) -> Cost:
    course, week = course_copy(place / "large", name)
    folder = place / "class"
    folder.mkdir()
    many: Chosen = take(course, week, size, skip=number * size)
    print(f"{name}, round {number + 1}: this kit, a class of {size}", flush=True)
    cost, _ = graders.kit(folder, course, week, many)
    return cost


def _section(week: str, rows: Rows, agreement: str, n: int, size: int) -> str:
    _, unit, _ = rows.median(CLASS)
    lines = []
    for name in (CLASS, *GRADERS):
        wall, cpu, memory = rows.median(name)
        figures = (f"{1 / wall:.2f}", f"{cpu:.2f}", f"{memory:.0f}", f"{cpu / unit:.1f}")
        lines.append((_label(name, n, size), *figures))
    head = ("", "submissions/s", "CPU s each", "peak MiB", "ratio")
    return f"### {week}\n\n{table(head, lines)}\n\n{agreement}"


def _label(name: str, n: int, size: int) -> str:
    classes = {"this kit": n, CLASS: size}
    return f"this kit, a class of {classes[name]}" if name in classes else name


def draw(by_week: dict[str, Rows], n: int, size: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [CLASS, *GRADERS]
    figure, axes = pyplot.subplots(figsize=(7, 1.2 + 1.5 * len(by_week)), layout="constrained")
    labels, values = [], []
    for week, rows in by_week.items():
        for name in names:
            labels.append(f"{week.split('_')[0]}: {_label(name, n, size)}")
            values.append(rows.median(name)[1])
    colours = ["#4477aa" if "this kit" in label else "#bbbbbb" for label in labels]
    bars = axes.barh(labels, values, color=colours)
    axes.bar_label(bars, [f"{v:.2f}" if v < 1 else f"{v:.1f}" for v in values], padding=3)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("processor seconds per submission")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
