"""Generate programs that do none of an exercise's work.

Each exercise gets the same kinds of programs. They return constants or pseudo-random numbers of the
right shape, None, 0, an empty string, arguments or the mean of an argument, or raise an exception.
One kind returns zeros, but keeps the correct constructor and rejects invalid arguments.
`solutions/<week>/trivial.py` adds plain library calls as functions named `EXERCISE__WHAT_IT_DOES`.
`verify` grades all of these programs.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from ...model.course.bank import Bank
from ..running.test_runner import Runs

_HOLLOW = Path(__file__).with_name("hollow.py")
KINDS = (
    "zeros",
    "ones",
    "nan",
    "uniform",
    "noise",
    "raises",
    "refuses",
    "none",
    "number",
    "text",
    "arguments",
)
_MOST_ARGUMENTS = 4


def trivial_programs(bank: Bank, exercise: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the source of each generated program for an exercise."""
    hollow = f"{bank.solution}\n\n{_HOLLOW.read_text(encoding='utf-8')}"
    hollow += "".join(f"\n{kernel} = _NoKernel()" for kernel in _kernels(bank.solution))
    given = range(min(_MOST_ARGUMENTS, _arguments(bank.solution, exercise)))
    for kind in (*KINDS, *(f"{what} {i}" for what in ("argument", "mean") for i in given)):
        yield kind, f"{hollow}\n{exercise} = _hollow({exercise}, {kind!r})\n"


def plain_calls(bank: Bank, exercise: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each program in the week's trivial.py for an exercise."""
    path = bank.folder / "trivial.py"
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        name = getattr(node, "name", "")
        if name.startswith(f"{exercise}__"):
            yield name.partition("__")[2], f"{bank.over_solution(text)}\n{exercise} = {name}\n"


def _kernels(solution: str) -> Iterator[str]:
    """Yield the names of the Triton kernels that a module defines."""
    functions = (n for n in ast.parse(solution).body if isinstance(n, ast.FunctionDef))
    for function in functions:
        if any(ast.unparse(d).startswith("triton.") for d in function.decorator_list):
            yield function.name


def _arguments(solution: str, exercise: str) -> int:
    """Count the positional parameters of a function, or of the public method with the most."""
    (found,) = (n for n in ast.parse(solution).body if getattr(n, "name", "") == exercise)
    if isinstance(found, ast.FunctionDef):
        return len(found.args.args)
    methods = (n for n in ast.walk(found) if isinstance(n, ast.FunctionDef))
    return max((len(m.args.args) - 1 for m in methods if m.name[0] != "_"), default=0)


class TrivialPasses:
    """Determines which tests trivial programs pass, and caches the results."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._results: dict[str, bool] = {}

    def passes(self, exercise: str, test: str) -> bool:
        """Return True if at least one trivial program passes a test."""
        if test not in self._results:
            bank = self._runs.bank
            programs = (*trivial_programs(bank, exercise), *plain_calls(bank, exercise))
            self._results[test] = any(
                self._program_passes(f"-trivial-{exercise}-{kind}", source, exercise, test)
                for kind, source in programs
            )
        return self._results[test]

    def _program_passes(self, name: str, source: str, exercise: str, test: str) -> bool:
        with self._runs.in_place(name, source) as target:
            ran = self._runs.run(target, self._runs.files(source), exercise, tests={test})
        return bool(ran) and not any(r.report.verdict.reported for r in ran)
