"""Whether a real GPU bears out all that the claimed device stands in for, on one page.

    python -m benchmarks.prove_gpu [--weeks week01,…] [--n 100] [--page GPU.md]

On a machine with a CUDA device and a torch that can use it, every step below runs, also after one
that failed, and the page says what held. Anywhere else it says what it would have done, and ends
with 2: nothing was proven. 0: all held; 1: something did not, and the page has its last words.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from autograder.model.availability import has_cuda
from autograder.model.course import load
from autograder.sandbox import choose

from .measure import ROOT, machine
from .results import table

_LAST_WORDS = 2_000
_MOST_SECONDS = 7_200.0  # of one step
_KERNELS = "week09_kernels"
_SKIPPED = re.compile(r"^SKIPPED \[\d+\] (.*)$", re.MULTILINE)
_PASSED = re.compile(r"\b[1-9]\d* passed")
_NOT_RUN = re.compile(r"^.*\bnot[_ ]run\b.*$", re.MULTILINE)
# Makes the device's nodes where no program did yet, and keeps the device from falling asleep
# between submissions, each of which would wait for it.
_KEEPER = """
import sys, torch
torch.zeros(1, device="cuda")
print("awake", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Step:
    """One command, and what holds if it ends with 0."""

    name: str
    claim: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path = ROOT

    @property
    def is_tests(self) -> bool:
        return "pytest" in self.command


@dataclass(frozen=True)
class Proven:
    """How a step ended."""

    step: Step
    held: bool
    seconds: float
    words: str


def steps(
    weeks: Sequence[str], count: int, kernels: Path, sandbox: str = "bubblewrap"
) -> list[Step]:
    """What is to be proven, the cheapest first. `kernels`: a week 9 that is solved."""
    pytest = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider")
    return [
        Step(
            "sandbox",
            "A process in the sandbox starts the device after its fork, shares it with others and "
            "is held to `gpu_mib`; what goes beyond is out of memory, not the neighbour's.",
            (*pytest, "tests/sandbox/test_gpu.py"),
        ),
        Step(
            "kernels",
            "Week 9's kernels, compiled, give what they give when they are interpreted.",
            (*pytest, "test_kernels.py"),
            {"TRITON_INTERPRET": "0"},
            kernels,
        ),
        *(
            Step(
                f"verify {week}",
                "Solution and alternatives pass, stubs get nothing, and every misconception is "
                "rejected and named, on the CPU and on the device.",
                ("-m", "autograder", "verify", week, "--device", "cuda", "--fresh"),
            )
            for week in weeks
        ),
        Step(
            "attacks",
            "With the device's nodes open in the sandbox, no attack earns more, reads more or "
            "stays longer than without.",
            (*pytest, "tests/attacks"),
            {"AUTOGRADER_ATTACKS_DEVICE": "cuda", "AUTOGRADER_ATTACKED": sandbox},
        ),
        Step(
            "class",
            f"{count} submissions share the device within their bounds; what the device costs is "
            "written to RESULTS.md.",
            ("-m", "benchmarks.gpu", "--n", str(count)),
        ),
    ]


def prove(step: Step) -> Proven:
    """Run one step to its end."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, *step.command],
            cwd=step.folder,
            env={**os.environ, **step.environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            ended, fine = "", process.wait(_MOST_SECONDS) == 0
        except subprocess.TimeoutExpired:  # a GPU that hangs hangs whoever waits for it
            ended, fine = f"\nit did not end within {_MOST_SECONDS:.0f} s", False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said.seek(0)
        words = said.read().decode(errors="replace").strip() + ended
    lacking = not_run(step, words) if fine else ""
    words = f"{words[-_LAST_WORDS:]}\n{lacking}".strip()
    return Proven(step, fine and not lacking, time.perf_counter() - started, words)


def not_run(step: Step, words: str) -> str:
    """What a step that ended well did not run; pytest ends well too where all is skipped."""
    if not step.is_tests:
        found = _NOT_RUN.search(words)
        return f"not all of it was run: {found[0]}" if found else ""
    skipped = [line for line in _SKIPPED.findall(words) if "thorough" not in line]
    if skipped:
        return "skipped: " + "; ".join(skipped[:5])
    return "" if _PASSED.search(words) else "no test was run"


def page(proven: Sequence[Proven]) -> str:
    """What held, and the last words of what did not."""
    rows = [
        (p.step.name, "holds" if p.held else "does not hold", f"{p.seconds:.0f}", p.step.claim)
        for p in proven
    ]
    parts = ["# On a real GPU", f"{machine()}.", table(("step", "", "seconds", "claim"), rows)]
    for one in proven:
        if not one.held:
            parts += [
                f"## {one.step.name}",
                "```text\n" + one.words.replace("```", "'''") + "\n```",
            ]
    return "\n\n".join(parts) + "\n"


def plan(planned: Sequence[Step]) -> str:
    """What would be done where there is a GPU."""
    lines = ["No CUDA device, or no torch that can use one: nothing is proven. It would be run:"]
    for step in planned:
        settings = "".join(f"{name}={value} " for name, value in step.environment.items())
        lines.append(f"\n{step.name}: {step.claim}\n    {settings}python {' '.join(step.command)}")
    return "\n".join(lines)


@contextmanager
def kept_awake() -> Iterator[None]:
    """Within it, a process outside of any sandbox holds the device."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _KEEPER], text=True, **pipes) as keeper:
        assert keeper.stdout is not None
        if keeper.stdout.readline() != "awake\n":
            raise SystemExit("the device does not start outside of any sandbox: see its driver")
        yield


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weeks", default="", help="comma-separated; all if left out")
    parser.add_argument("--n", type=int, default=100, help="submissions of the class")
    parser.add_argument("--page", type=Path, default=ROOT / "benchmarks" / "GPU.md")
    chosen = parser.parse_args()
    course = load(ROOT)
    names = chosen.weeks.split(",") if chosen.weeks else [w.name for w in course.weeks]
    weeks = [course.week(name).name for name in names]
    with tempfile.TemporaryDirectory(prefix="gpu-") as place:
        kernels = Path(place) / _KERNELS
        if not has_cuda():
            print(plan(steps(weeks, chosen.n, kernels)))
            return 2
        planned = steps(weeks, chosen.n, kernels, choose().name)
        shutil.copytree(ROOT / "exercises" / _KERNELS, planned[1].folder)
        shutil.copy(course.solution(course.week(_KERNELS)), planned[1].folder)
        proven = []
        with kept_awake():
            for step in planned:
                print(f"{step.name} …", flush=True)
                proven.append(prove(step))
                print(f"  {'holds' if proven[-1].held else 'DOES NOT HOLD'}", flush=True)
                chosen.page.write_text(page(proven), encoding="utf-8")
    print(f"written to {chosen.page}")
    return 0 if all(p.held for p in proven) else 1


if __name__ == "__main__":
    sys.exit(main())
