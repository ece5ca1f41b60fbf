"""Coverage-guided fuzzing of one door, or of all: `python -m tests.fuzz.run [--runs N] [door ...]`.

Needs atheris, which has wheels for CPython on Linux; elsewhere hypothesis makes as many inputs,
without being led by coverage. A finding is written to crash-* in the current folder.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DOORS = (
    "wire_bytes",
    "wire_values",
    "intake_bytes",
    "intake_archive",
    "intake_module",
    "report_bytes",
    "report_values",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs for each door")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("doors", nargs="*", default=DOORS, help=f"of {', '.join(DOORS)}")
    arguments = parser.parse_args()
    if arguments.inside:
        return fuzz(arguments.inside, arguments.runs)
    for door in arguments.doors:
        started = time.monotonic()
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.run",
            "--inside",
            door,
            "--runs",
            str(arguments.runs),
        ]
        code = subprocess.run(command, check=False).returncode
        seconds = time.monotonic() - started
        print(f"{door}: {arguments.runs:,} inputs in {seconds:.0f} s, exit code {code}", flush=True)
        if code:
            return code
    return 0


def fuzz(door: str, runs: int) -> int:
    """Fuzz one door in this process; never returns with atheris."""
    try:
        import atheris
    except ImportError:
        return without_coverage(door, runs)
    with atheris.instrument_imports(include=["autograder"]):
        from tests.fuzz import targets
    corpus = Path(tempfile.mkdtemp(prefix="fuzz-corpus-"))
    for number, seed in enumerate(targets.seeds(door)):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [f"-runs={runs}", "-max_len=2048", "-timeout=60", "-rss_limit_mb=4096"]
    options += ["-print_final_stats=1", "-verbosity=0", str(corpus)]
    atheris.Setup([door, *options], getattr(targets, door))
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(corpus, ignore_errors=True)
    return 0


def without_coverage(door: str, runs: int) -> int:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    from tests.fuzz import targets

    print(f"{door}: atheris is not installed; inputs are not led by coverage", file=sys.stderr)
    target = getattr(targets, door)
    bounds = settings(max_examples=runs, deadline=None, suppress_health_check=list(HealthCheck))
    bounds(given(st.binary(max_size=2048))(target))()
    return 0


if __name__ == "__main__":
    sys.exit(main())
