"""The look at the syntax tree."""

from __future__ import annotations

import pytest

from autograder.grading.source_rules import source_problems

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


def problem(source: str, *patterns: str) -> str:
    found = source_problems(source, {"softmax": patterns})
    return found["softmax"].message if found else ""


def test_an_import_that_the_exercise_does_not_reach_is_no_matter():
    assert problem(HONEST) == ""


@pytest.mark.parametrize(
    "line",
    [
        "import ctypes; ctypes.CDLL(None)",
        "t = threading.Thread(target=print); t.start()",
        "with torch._C._DisableTorchDispatch(): pass",
        "with torch._C.DisableTorchFunction(): pass",
        "from torch.utils._python_dispatch import _disable_current_modes; _disable_current_modes()",
        "from torch.overrides import _pop_mode; _pop_mode()",
    ],
)
def test_looking_away_from_the_grader_is_forbidden_wherever_the_exercise_reaches(line):
    direct = HONEST.replace("    e = helper", f"    {line}\n    e = helper")
    assert "looks away" in problem(direct)
    in_helper = HONEST.replace("    return torch.exp", f"    {line}\n    return torch.exp")
    assert "looks away" in problem(in_helper)


def test_a_refused_library_is_found_behind_its_alias():
    assert "`torch.exp`" in problem(HONEST, "torch*")
    renamed = HONEST.replace("torch.exp", "mm.exp").replace(
        "import torch\n", "import torch as mm\n"
    )
    assert "`torch.exp`" in problem(renamed, "torch*")


def test_a_refused_method_is_found_on_any_object():
    assert "`.amax`" in problem(HONEST, ".amax")


def test_a_file_that_is_no_python_is_left_to_the_import():
    assert problem("def softmax(:", "torch*") == ""
