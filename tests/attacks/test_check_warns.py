"""Check that `check` warns about all code that `grade` refuses, in the real sandbox.

Code that static analysis cannot resolve is detected while the public checks run.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.batch.intake import Submission
from autograder.model.source.reachable import Sources
from autograder.model.source.rules import Rules, refusals, texts_of
from autograder.sandbox import SandboxMissing, choose
from autograder.student.commands.check import check_week
from autograder.student.folder.week import open_folder
from tests.attacks.laboratory import ATTACKED, Laboratory

WEEK = "week01_softmax"
# Harmless code for the first line of a correct softmax; below, code at module level.
HARMLESS = (
    "import gc; gc.collect()",
    "import gc; gc.disable(); gc.enable()",
    "import sys; 'keras' in sys.modules",
    "import sys; sys.modules[__name__]",
    "import sys; sys.getrecursionlimit()",
    "import os; os.environ.get('HOME')",
    "import inspect; inspect.signature(softmax)",
    "import importlib.util; importlib.util.find_spec('keras')",
    "import threading; threading.Lock()",
    "import re; re.compile('a')",
    "import copy; copy.deepcopy([1])",
    "import numpy; numpy.exp(1.0)",
    "import torch.nn.functional as F; F.relu(x)",
    "from math import sqrt; sqrt(2)",
    "import functools, itertools, dataclasses, typing, warnings, time, json",
    "getattr(x, 'shape')",
    "eval = 3; eval + 1",
    "worker = [1]; worker.append(2)",
    "import multiprocessing; multiprocessing.cpu_count()",
    "import traceback, contextlib, collections",
    "import matplotlib",
    "assert x is not None",
)
REFUSED = (
    "import einops",
    "import pandas as pd",
    "from scipy.special import expit",
    "import msgspec",
    "import tqdm",
    "from autograder.student import check",
    "import worker",
    "from worker.monitor.operator_hooks import Watcher",
    "torch.softmax(x, dim)",
    "x.softmax(dim)",
    "torch.nn.functional.softmax(x, dim)",
    "from torch.nn.functional import log_softmax; log_softmax(x, dim)",
    "getattr(torch, 'softmax')(x, dim)",
    "torch.logsumexp(x, dim)",
    "import gc; gc.get_objects()",
    "import sys; sys._getframe()",
    "import inspect; inspect.currentframe()",
    "import ctypes; ctypes.c_int(3)",
    "exec('pass')",
    "eval('1')",
    "compile('1', 'a', 'eval')",
    "__import__('math')",
    "import importlib; importlib.import_module('math')",
    "with torch._C.DisableTorchFunction(): pass",
    "from torch.utils._python_dispatch import TorchDispatchMode; TorchDispatchMode()",
    "softmax.__globals__",
)
# Code that static analysis cannot resolve: at module level, and in softmax's first line.
SEEN_WHEN_RUN = {
    "a module made above": ("_act = torch.nn.Softmax(-1)", "_act(x)"),
    "a name put together": ("_name = 'soft' + 'max'", "getattr(torch, _name)(x, dim)"),
    "a table of operators": (
        "_packet = vars(torch.ops)['aten']",
        "getattr(_packet, 'soft' + 'max')(x, dim)",
    ),
    "a ufunc kept above": (
        "import numpy as _np; _add = getattr(_np, 'log' + 'addexp')",
        "_add.reduce([1.0, 2.0])",
    ),
}
SEEN_WHEN_RUN |= {
    "a decomposition": (
        "from torch._decomp import decomposition_table as _table",
        "_table[torch.ops.aten._softmax.default](x, dim, False)",
    ),
    "a reference": ("import torch._refs as _refs", "vars(_refs)['soft' + 'max'](x, dim)"),
    "a program in TorchScript": (
        "_unit = torch.jit.CompilationUnit("
        "'def f(x, dim: int):\\n    return torch.softmax(x, dim)\\n')",
        "_unit.f(x, dim)",
    ),
    "a decomposition that was traced above": (
        "from torch.fx.experimental.proxy_tensor import make_fx\n"
        "from torch._decomp import get_decompositions\n"
        "_graph = make_fx(lambda t: torch.softmax(t, -1), decomposition_table="
        "get_decompositions([torch.ops.aten._softmax]))(torch.randn(3, 4))",
        "_graph(x.movedim(dim, -1))",
    ),
}
# Other snippets here use the same mechanism: "a decomposition" also reaches a packet of operators,
# and "a module made above" is also created before the call.
REACHED_IN_OTHER_WAYS = ("a table of operators", "a decomposition that was traced above")
ALLOWED_WHEN_RUN = {
    "one's own function of that name": ("def log_softmax(x): return x", "log_softmax(x)"),
    "a call while the module is imported": ("getattr(torch, 'soft' + 'max')(torch.ones(2), 0)", ""),
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    try:
        choose(ATTACKED)
    except SandboxMissing as error:
        pytest.skip(str(error))
    laboratory = Laboratory(tmp_path_factory.mktemp("laboratory"), (WEEK,))
    yield laboratory
    laboratory.close()


def with_line(lab: Laboratory, line: str) -> bytes:
    """Return the solution with a line inserted at the beginning of its softmax."""
    marker = "    # BEGIN SOLUTION\n"
    before, found, after = lab.solution(WEEK).partition("def softmax(")
    head, begin, rest = after.partition(marker)
    assert found
    assert begin
    return f"{before}{found}{head}{begin}    {line}\n{rest}".encode()


@pytest.mark.parametrize("line", [*HARMLESS, *REFUSED])
def test_check_warns_exactly_where_grade_refuses(lab: Laboratory, line: str) -> None:
    week, source = lab.week(WEEK), with_line(lab, line)
    rules = {e.name: Rules(week.patterns(e.name), e.source_not_allowed) for e in week.exercises}
    files = Sources(texts_of({week.module: source}), week.module)
    warned = "softmax" in refusals(files, rules, libraries=week.importable)
    trial = lab.grade(Submission("ada", {week.module: source}), WEEK)
    graded = bool(trial.verdicts("softmax") - {"pass"})
    assert (warned, graded) == (line in REFUSED, line in REFUSED)


@pytest.mark.parametrize(
    ("above", "line", "forbidden"),
    [
        pytest.param(
            *lines,
            found is SEEN_WHEN_RUN,
            id=name,
            marks=[pytest.mark.thorough] if name in REACHED_IN_OTHER_WAYS else [],
        )
        for found in (SEEN_WHEN_RUN, ALLOWED_WHEN_RUN)
        for name, lines in found.items()
    ],
)
def test_check_notices_when_it_runs_what_grade_refuses(
    lab: Laboratory, above: str, line: str, forbidden: bool
) -> None:
    source = with_line(lab, line or "pass").replace(
        b"def softmax(", f"{above}\n\n\ndef softmax(".encode(), 1
    )
    folder = open_folder(lab.root / "exercises" / WEEK)
    folder.module.write_bytes(source)
    (checked,) = check_week(folder, ["softmax"]).exercises
    failure = checked.first and checked.first.failure
    warned = failure is not None and failure.kind == "forbidden"
    trial = lab.grade(Submission("ada", {folder.module.name: source}), WEEK)
    # On a loaded machine, the compiler's import may use up the limit before the call is reported.
    graded = bool(trial.verdicts("softmax") & {"forbidden", "timeout", "refused"})
    assert (warned, graded) == (forbidden, forbidden), (checked, trial.verdicts("softmax"))
