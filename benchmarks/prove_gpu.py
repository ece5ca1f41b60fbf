"""Test on a real GPU everything that other machines test with the fake GPU; write one page.

    python -m benchmarks.prove_gpu [--weeks week01,…] [--n 100] [--page GPU.md]

If this machine has a CUDA device that torch can use, run all steps, even if one of them fails, and
write the results to the page. Otherwise print the steps.

Exit code 0 if all steps passed, 1 if a step failed (the page has the end of its output), 2 if there
is no CUDA device.
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
_MOST_SECONDS = 7_200.0  # time limit for one step
_KERNELS = "week09_kernels"
_SKIPPED = re.compile(r"^SKIPPED \[\d+\] (.*)$", re.MULTILINE)
_PASSED = re.compile(r"\b[1-9]\d* passed")
_NOT_RUN = re.compile(r"^.*\b(?:not[_ ]run|cannot run on this machine)\b.*$", re.MULTILINE)
# Creates the device nodes if they do not exist yet, and keeps the driver initialised between
# submissions, each of which would otherwise wait for it.
_KEEPER = """
import sys, torch
torch.zeros(1, device="cuda")
print("awake", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Step:
    """A command, and the claim that is true if its exit code is 0."""

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
    """The result of a step.

    held:    whether the step passed
    seconds: wall-clock time
    words:   the end of the output, and tests that did not run
    """

    step: Step
    held: bool
    seconds: float
    words: str


def steps(
    weeks: Sequence[str], count: int, kernels: Path, sandbox: str = "bubblewrap"
) -> list[Step]:
    """Return the steps, the fastest first.

    weeks:   names of the weeks to verify
    count:   number of submissions in the class
    kernels: folder of week 9 with the solution as the student's module
    sandbox: name of the sandbox to attack
    """
    pytest = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider")
    return [
        Step(
            "sandbox",
            "A process in the sandbox initialises the device after the fork, shares it with other "
            "processes and cannot use more than `gpu_mib`. Exceeding this limit raises an "
            "out-of-memory error and does not affect other processes.",
            (*pytest, "tests/sandbox/test_gpu.py"),
        ),
        Step(
            "kernels",
            "Compiled, the kernels of week 9 compute the same results as in the interpreter.",
            (*pytest, "test_kernels.py"),
            {"TRITON_INTERPRET": "0"},
            kernels,
        ),
        *(
            Step(
                f"verify {week}",
                "On the CPU and on the device, the solution and the alternatives pass, stubs earn "
                "0 points, and every misconception is rejected and named.",
                ("-m", "autograder", "verify", week, "--device", "cuda", "--fresh"),
            )
            for week in weeks
        ),
        Step(
            "attacks",
            "If the sandbox allows the device nodes, attacks do not earn more points, read more "
            "files or run longer than without the device.",
            (*pytest, "tests/attacks"),
            {"AUTOGRADER_ATTACKS_DEVICE": "cuda", "AUTOGRADER_ATTACKED": sandbox},
        ),
        Step(
            "class",
            f"{count} submissions share the device within their limits. The overhead of the "
            "device is written to RESULTS.md.",
            ("-m", "benchmarks.gpu", "--n", str(count)),
        ),
    ]


def prove(step: Step) -> Proven:
    """Run a step, and kill it and its children if it exceeds the time limit."""
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
        except subprocess.TimeoutExpired:  # a GPU that hangs also blocks waiting processes
            ended, fine = f"\nthe step did not end within {_MOST_SECONDS:.0f} s", False
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
    """Return the tests that a successful step did not run, or "" if all ran.

    This check is needed because pytest also exits with 0 if tests are skipped.
    """
    if not step.is_tests:
        found = _NOT_RUN.search(words)
        return f"some tests were not run: {found[0]}" if found else ""
    skipped = [line for line in _SKIPPED.findall(words) if "thorough" not in line]
    if skipped:
        return "skipped: " + "; ".join(skipped[:5])
    return "" if _PASSED.search(words) else "no test was run"


def page(proven: Sequence[Proven]) -> str:
    """Return the page: a table of all steps, and the end of the output of failed steps."""
    rows = [
        (p.step.name, "holds" if p.held else "does not hold", f"{p.seconds:.0f}", p.step.claim)
        for p in proven
    ]
    head = ("step", "result", "seconds", "claim")
    parts = ["# Tests on a real GPU", f"{machine()}.", table(head, rows)]
    for one in proven:
        if not one.held:
            parts += [
                f"## {one.step.name}",
                "```text\n" + one.words.replace("```", "'''") + "\n```",
            ]
    return "\n\n".join(parts) + "\n"


def plan(planned: Sequence[Step]) -> str:
    """Describe the steps for a machine without a GPU."""
    lines = ["No CUDA device that torch can use: nothing is proven. With a GPU, these steps run:"]
    for step in planned:
        settings = "".join(f"{name}={value} " for name, value in step.environment.items())
        lines.append(f"\n{step.name}: {step.claim}\n    {settings}python {' '.join(step.command)}")
    return "\n".join(lines)


@contextmanager
def kept_awake() -> Iterator[None]:
    """Keep the device initialised by a process outside the sandbox."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _KEEPER], text=True, **pipes) as keeper:
        assert keeper.stdout is not None
        if keeper.stdout.readline() != "awake\n":
            raise SystemExit("CUDA cannot be initialised outside the sandbox: check the GPU driver")
        yield


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weeks", default="", help="comma-separated; default: all")
    parser.add_argument("--n", type=int, default=100, help="number of submissions in the class")
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
    print(f"wrote {chosen.page}")
    return 0 if all(p.held for p in proven) else 1


if __name__ == "__main__":
    sys.exit(main())
