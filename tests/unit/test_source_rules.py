"""Test that source rules find forbidden names, evasions and imports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.model.availability import LIBRARIES
from autograder.model.course import load
from autograder.model.source.reachable import Sources, count_tokens
from autograder.model.source.rules import Rules, in_words, refusals, texts_of

HONEST = """
import threading
import torch
import torch.nn.functional as F

def helper(x):
    return torch.exp(x)

def softmax(x, dim=-1):
    e = helper(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)

if __name__ == "__main__":
    assert torch.allclose(softmax(torch.ones(3)), F.softmax(torch.ones(3), -1))
"""
IN_MODULE = """
import gc
import torch

def borrowed(x):
    return {expression}

def softmax(x, dim=-1):
    return borrowed(x)
"""


def source_problems(files, module, rules, replaced=()):
    return refusals(Sources(texts_of(files), module), rules, replaced)


def problem(source: str | bytes, *patterns: str, **beside: str) -> str:
    text = source if isinstance(source, bytes) else source.encode()
    files = {"softmax.py": text} | {f"{n}.py": t.encode() for n, t in beside.items()}
    found = source_problems(files, "softmax.py", {"softmax": Rules((), patterns)})
    return found["softmax"].message if found else ""


def in_helper(expression: str) -> tuple[str, str]:
    """Split the same code as IN_MODULE into two files."""
    module = "import helper\n\ndef softmax(x, dim=-1):\n    return helper.borrowed(x)\n"
    return module, IN_MODULE.split("def softmax")[0].format(expression=expression)


def test_an_import_that_the_exercise_does_not_reach_is_no_matter():
    assert problem(HONEST) == ""


@pytest.mark.parametrize(
    "line",
    [
        "import ctypes; ctypes.CDLL(None)",
        "t = threading.Thread(target=print); t.start()",
        "with torch._C._DisableTorchDispatch(): pass",
        "with torch._C.DisableTorchFunction(): pass",
        "with getattr(torch._C, 'Disable' + 'TorchFunction')(): pass",
        "from torch.utils._python_dispatch import _disable_current_modes; _disable_current_modes()",
        "from torch.overrides import _pop_mode; _pop_mode()",
        "import gc; gc.get_objects()",
        "from gc import *; get_objects()",
        "import sys as s; f = s._getframe",
        "(lambda: 0).__globals__",
        "c = torch._C; c.DisableTorchFunction()",
        "exec('pass')",
    ],
)
def test_looking_away_from_the_grader_is_forbidden_wherever_the_exercise_reaches(line):
    direct = HONEST.replace("    e = helper", f"    {line}\n    e = helper")
    assert "cannot follow" in problem(direct)
    in_own_helper = HONEST.replace("    return torch.exp", f"    {line}\n    return torch.exp")
    assert "cannot follow" in problem(in_own_helper)


@pytest.mark.parametrize(
    "line",
    [
        "import gc; gc.collect()",
        "import sys; 'keras' in sys.modules",
        "import sys; sys.modules[__name__]",
        "import inspect; inspect.signature(helper)",
        "import importlib.util; importlib.util.find_spec('keras')",
        "lock = threading.Lock()",
        "worker = 3; workers = worker + 1",
        "gc = x; gc.get_objects",
        "eval = False; assert not eval",
        "import re; re.compile('a')",
        "import os; os.environ.get('A'); os.path.exists('a')",
        "import multiprocessing; multiprocessing.cpu_count()",
    ],
)
def test_what_only_looks_like_an_evasion_costs_nothing(line):
    assert problem(HONEST.replace("    e = helper", f"    {line}\n    e = helper")) == ""


@pytest.mark.parametrize("expression", ["torch.exp(x)", "gc.get_objects()", "x.softmax(-1)", "x"])
def test_a_helper_file_gets_the_verdict_of_the_module(expression):
    rules = ("torch*", ".softmax")
    module, helper = in_helper(expression)
    direct = problem(IN_MODULE.format(expression=expression), *rules)
    by_file = problem(module, *rules, helper=helper)
    without_place = re.compile(r"\([^)]*line \d+\)")
    assert without_place.sub("", by_file) == without_place.sub("", direct)


@pytest.mark.parametrize(
    "lines",
    [
        "from helper import borrowed as b\ndef softmax(x): return b(x)",
        "from helper import borrowed as softmax",
        "from helper import *\ndef softmax(x): return borrowed(x)",
        "import helper as h\ng = h\ndef softmax(x): return g.borrowed(x)",
        "def softmax(x):\n    from helper import borrowed\n    return borrowed(x)",
        "import helper\ndef softmax(x): return getattr(helper, 'borrowed')(x)",
        "import helper\ndef softmax(x, h=helper): return h.borrowed(x)",
        "import helper\ndef softmax(x): return vars(helper)['borr' + 'owed'](x)",
        "class A:\n    import helper\ndef softmax(x): return A.helper.borrowed(x)",
        "import between\ndef softmax(x): return between.call(x)",
        "if True:\n    from helper import borrowed\nsoftmax = borrowed",
    ],
)
def test_names_are_followed_into_files_however_they_are_imported(lines):
    beside = {
        "helper": in_helper("torch.exp(x)")[1],
        "between": "import helper\ndef call(x): return helper.borrowed(x)",
    }
    assert "`torch.exp`" in problem(lines, "torch*", **beside)


def test_a_file_in_a_folder_is_found_by_its_end_too():
    module = "import sys; sys.path.append('sub')\nfrom inner import f\ndef softmax(x): return f(x)"
    assert "cannot follow" in problem(module, **{"sub/inner": "import gc\nf = gc.get_objects"})


def test_what_a_helper_file_runs_on_import_counts():
    module = "import helper\ndef softmax(x): return x"
    helper = "def look():\n    import gc\n    return gc.get_objects()\nlook()"
    assert "(helper.py, line 3)" in problem(module, helper=helper)


def test_a_file_that_nothing_imports_costs_nothing():
    assert problem(HONEST, "numpy*", scratch="import gc; gc.get_objects(); import numpy") == ""


def test_a_file_of_ones_own_may_have_any_name():
    assert (
        problem("import worker\ndef softmax(x): return worker.f(x)", worker="def f(x): ...") == ""
    )


def test_a_refused_library_is_found_behind_its_alias():
    assert "`torch.exp`" in problem(HONEST, "torch*")
    renamed = HONEST.replace("torch.exp", "mm.exp").replace(
        "import torch\n", "import torch as mm\n"
    )
    assert "`torch.exp`" in problem(renamed, "torch*")


def test_a_refused_method_is_found_on_any_object():
    assert "`.amax`" in problem(HONEST, ".amax")


def test_an_exercise_that_is_a_librarys_own_is_found():
    assert "`torch.softmax`" in problem("from torch import softmax", "torch*")


KERAS = """
def attention(q, k, v, mask):
    s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
    w = s.softmax(-1)
    return w @ v, w
"""


@pytest.mark.parametrize("beside", [False, True])
def test_torch_is_refused_in_keras_attention_in_the_module_and_beside_it(beside):
    week = load(Path(__file__).parents[2]).week("week06")
    imports, call = "import math, torch\n", "    return attention(q, k, v, mask)\n"
    exercise = "def keras_attention(q, k, v, mask=None):\n" + call
    if beside:
        files = {"beyond.py": "from beside import attention\n" + exercise}
        files["beside.py"] = imports + KERAS
    else:
        files = {"beyond.py": imports + KERAS + exercise}
    rules = {e.name: Rules((), e.source_not_allowed) for e in week.exercises}
    found = source_problems({n: t.encode() for n, t in files.items()}, week.module, rules)
    assert set(found) == {"keras_attention"}


def test_a_file_that_is_no_python_is_left_to_the_import():
    assert problem("def softmax(:", "torch*") == ""


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"# -*- coding: latin-1 -*-\n"])
def test_a_file_is_read_as_python_reads_it(start):
    assert "cannot follow" in problem(start + b"import gc\ndef softmax(x): gc.get_objects()")


def test_a_file_in_an_encoding_that_hides_its_text_is_refused_where_it_is_imported():
    hidden = "# coding: utf-7\nimport gc\n"
    assert "cannot be analysed" in problem("import helper\ndef softmax(x): ...", helper=hidden)
    assert problem("def softmax(x): ...", helper=hidden) == ""


def test_more_than_can_be_read_is_refused_where_it_is_imported():
    module = "import a\ndef softmax(x): ..."
    assert "cannot be analysed" in problem(module, "torch*", a="x = 1\n" * 120_000)


def test_a_file_that_cannot_be_analysed_concerns_only_exercises_that_reach_it():
    module = "def f(x): ...\ndef g(x):\n    import big\n"
    files = {"m.py": module.encode(), "big.py": b"x = 1\n" * 120_000}
    rules = {"g": Rules((), ()), "f": Rules((), ())}
    sources = Sources(texts_of(files), "m.py")
    for _ in range(2):  # `check` searches the same files several times
        assert set(refusals(sources, rules)) == {"g"}
        sources.reached("g")


def test_more_files_of_one_name_than_are_followed_are_refused():
    decoys = {f"d{n}/pkg/evil": "def run(x): ..." for n in range(1, 9)}
    beside = {
        "a": "import pkg",
        "d9/pkg/__init__": "from . import evil",
        "d9/pkg/evil": "import ctypes\ndef run(x): return ctypes.c_int(x)",
    }
    module = "import a\ndef softmax(x): return a.pkg.evil.run(x)"
    assert "cannot be analysed" in problem(module, **beside, **decoys)


def test_what_is_found_grows_like_the_text():
    def uses(size: int) -> int:
        chain = "if 0: q" + ".a" * 1000 + "\n"
        sources = Sources({"a.py": "import numpy as q\n" + chain * size}, "a.py")
        return sum(len(u.name) for u in sources.on_import().uses)

    assert uses(20) <= 10 * uses(2)


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("import einops", "einops"),
        ("from scipy.special import softmax as s", "scipy"),
        ("from autograder.student import check", "autograder"),
        ("import worker.monitor.operator_hooks", "worker"),
        ("def softmax(x):\n    import pandas", "pandas"),
    ],
)
def test_an_import_of_what_is_not_there_when_graded_is_found(lines, name):
    sources = Sources({"softmax.py": lines}, "softmax.py")
    found = refusals(sources, {"softmax": Rules()}, libraries=LIBRARIES)
    assert found["softmax"].message.startswith(f"`{name}` (softmax.py, line")


@pytest.mark.parametrize(
    "lines",
    [
        "import math, torch.nn as nn, numpy as np, matplotlib.pyplot as plt",
        "try:\n    import einops\nexcept ImportError:\n    einops = None",
        "def other(x):\n    import pandas",
        "from helper import f",
        "def softmax(x):\n    import softmax",
        "if __name__ == '__main__':\n    import pandas",
    ],
)
def test_an_import_that_works_or_is_guarded_or_not_reached_is_no_matter(lines):
    sources = Sources({"softmax.py": lines, "helper.py": "f = 1"}, "softmax.py")
    assert refusals(sources, {"softmax": Rules()}, libraries=LIBRARIES) == {}


def test_a_ruled_line_and_other_scripts_count_little():
    assert count_tokens("# -----------------------------------\n# 注意力 √d ※\nx = 1") <= 16


def test_files_that_are_imported_are_counted_together():
    words = {f"part{n}": "a;" * 15_000 for n in range(3)}
    module = "import part0, part1, part2\ndef softmax(x): ..."
    assert "words and symbols" in problem(module, "torch*", **words)


def test_every_week_tells_its_students_what_may_be_imported():
    course = load(Path(__file__).parents[2])
    for week in course.weeks:
        text = (course.exercise_folder(week) / "README.md").read_text(encoding="utf-8")
        assert in_words(week.importable) in " ".join(text.split()), week.name


@pytest.mark.parametrize(
    "line",
    [
        "gc.\uff47et_objects()",
        "\U0001d41e\U0001d42f\U0001d41a\U0001d425('1')",
        "torch._\uff23.Disable()",
    ],
    ids=["wide", "bold", "wide capital"],
)
def test_a_name_in_other_letters_is_the_name_that_python_reads(line: str) -> None:
    assert "cannot follow" in problem(f"import gc, torch\n{line}")


REPLACED = """
import sys

def borrowed(x):
    return {kept}

{decorator}
def softmax(x):
    return {own}

def logsumexp(x):
    return softmax(x)
"""


@pytest.mark.parametrize(
    ("own", "kept", "decorator", "is_refused"),
    [
        ("sys._getframe()", "x", "", False),
        ("sys._getframe()", "x", "@borrowed", True),  # the decorator contains the function's code
        ("borrowed(x)", "sys._getframe()", "", False),
        ("x", "x", "softmax = lambda x: sys._getframe(); other = softmax", True),
    ],
)
def test_a_function_that_is_replaced_breaks_no_rule_for_its_callers(
    own, kept, decorator, is_refused
):
    text = REPLACED.format(own=own, kept=kept, decorator=decorator).encode()
    rules = {"softmax": Rules(), "logsumexp": Rules()}
    before = source_problems({"softmax.py": text}, "softmax.py", rules)
    after = source_problems({"softmax.py": text}, "softmax.py", rules, ("softmax",))
    assert "logsumexp" in before
    assert ("logsumexp" in after) is is_refused
