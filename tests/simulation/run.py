"""Simulate a whole course: `make simulate`.

Students from the banks take part in all weeks, with late work, extensions, slip days, repeated
attempts and two who submit the same solution. Prints the figures and the failed checks (exit 1).

Example: python -m tests.simulation.run --students 60 --weeks 8 --folder /tmp/course
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any


def main() -> int:
    options = _options()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="autograder-course-"))
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        os.environ[name] = str(folder / "jupyter")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")  # repeated nbgrader messages
    from rich.console import Console
    from rich.progress import Progress

    from tests.simulation.claims import CLAIMS, shares
    from tests.simulation.play import make_course, play, steps

    root = folder / "course"
    course, plan = make_course(root, options.students, options.weeks, options.seed)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=steps(plan))

        def told(said: str, done: int) -> None:
            progress.update(task, description=said, advance=done)

        played = play(course, plan, told, options.jobs)
    _write_reports(played, root)
    problems = {claim.__name__: claim(played) for claim in CLAIMS}
    figures = _figures(played, shares(played))
    if options.json:
        text = json.dumps({"figures": figures, "problems": problems, "said": played.said})
        options.json.write_text(text, encoding="utf-8")
    _show(figures, problems, played.said)
    if options.folder:
        print(f"the course is in {root}")
    else:
        shutil.rmtree(folder)
    return int(any(problems.values()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--weeks", type=int, default=8)
    parser.add_argument("--jobs", type=int, help="Processes that grade; default: one per core.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="Keep the course here; it must not exist.")
    parser.add_argument("--json", type=Path, help="Write what came out here.")
    return parser.parse_args()


def _figures(played: Any, kept: dict[tuple[str, str], float]) -> dict[str, Any]:
    from autograder.classreport.analysis import summarize
    from autograder.classreport.page import recorded_report
    from tests.simulation.claims import planted

    parts = played.parts
    found = list(planted(played))
    weeks = []
    for week in played.weeks:
        report = recorded_report(played.course, week)
        assert report is not None
        summary = summarize(week, report)
        weeks.append(
            {
                "week": week.name,
                "graded": len(summary.graded),
                "mean": round(summary.mean, 4),
                "median": round(summary.median, 4),
                "commonest": [(m.exercise, m.name, len(m.students)) for m in summary.mistakes[:3]],
                "discrimination": _spread(summary),
            }
        )
    return {
        "students": len(played.plan.students),
        "handed in": len(parts),
        "submissions": sum(len(p.hand_ins) for p in parts),
        "second tries": sum(len(p.hand_ins) > 1 for p in parts),
        "late": sum(bool(p.days) for p in parts),
        "within the grace period": sum(p.forgiven for p in parts),
        "extensions": len(played.plan.extensions),
        "rank of the two who copied": _rank(played),
        "points taken off": sum(kept[p.student, p.week.name] < 1 for p in parts),
        "mistakes planted": len(found),
        "named": sum(bool(f[3]) for f in found),
        "planted alone": sum(f[4] for f in found),
        "named alone": sum(bool(f[3]) for f in found if f[4]),
        "seconds": {k: round(v, 1) for k, v in played.seconds.items()},
        "weeks": weeks,
    }


def _write_reports(played: Any, root: Path) -> None:
    from autograder.cli.instructor.class_report import report

    with contextlib.chdir(played.course.root):
        for week in [*(w.name for w in played.weeks), None]:
            report(week, names=True, out=root.resolve() / f"report-{week or 'course'}.html")


def _rank(played: Any) -> str:
    """Return the rank among all pairs; not a check, because many students share texts."""
    from autograder.model.availability import installed
    from tests.simulation.plan import COPIED_WEEK

    if len(played.weeks) <= COPIED_WEEK or not installed("similarity"):
        return "not compared"
    from autograder.similarity import compare_collected

    pairs = compare_collected(played.course, played.weeks[COPIED_WEEK]).pairs
    who = set(played.plan.copied)
    number, pair = next((n, p) for n, p in enumerate(pairs, 1) if {p.first, p.second} == who)
    return f"{number} of {len(pairs)}, share {pair.share:.2f}, stands out: {pair.is_outlier}"


def _spread(summary: Any) -> dict[str, int]:
    """Count the tests by their discrimination, in the class report's words."""
    return dict(Counter(i.words for e in summary.exercises for i in e.items))


def _show(figures: dict[str, Any], problems: dict[str, list[str]], said: list[str]) -> None:
    for name, value in figures.items():
        if name != "weeks":
            print(f"{name}: {value}")
    for week in figures["weeks"]:
        print("  " + ", ".join(f"{k} {v}" for k, v in week.items()))
    print(f"said by the way: {len(said)}")
    for line in said[:40]:
        print(f"  {line}")
    for name, where in problems.items():
        print(f"{'ok  ' if not where else 'FAIL'} {name.replace('_', ' ')}")
        for line in where[:10]:
            print(f"       {line}")


if __name__ == "__main__":
    sys.exit(main())
