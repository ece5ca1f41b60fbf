"""Test that call hooks report library functions under any name without changing results."""

import inspect
import subprocess
import sys
import types
import warnings
from enum import Enum
from fnmatch import fnmatchcase
from importlib import import_module

import numpy as np
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

from autograder.worker.monitor.function_hooks import (
    HookedUfunc,
    hook_function,
    is_hooked,
    original_ufuncs,
)
from autograder.worker.monitor.operator_hooks import Watcher, install_hooks
from autograder.worker.torch_support import fake_device

fake_device.device()  # autograd counts devices at the first backward pass of a process
PATTERNS = ("*softmax*", "*logsumexp*", "logaddexp*", "scaled_dot_product_*", "logcumsumexp")
_TABLE = torch._decomp.decomposition_table
_SCRIPT = torch.jit.CompilationUnit(
    "def total(x):\n    return torch.logsumexp(x, [-1], True)\n"
    "def attention(x):\n    return torch._C._nn.scaled_dot_product_attention(x, x, x)\n"
)


@pytest.fixture
def watcher():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # prototypes of sparse and nested tensors
        install_hooks(PATTERNS)
        watcher = Watcher()
        watcher.begin(PATTERNS, "")
        yield watcher
        watcher.begin((), "")


def x():
    return torch.linspace(-1, 2, 12).reshape(3, 4)


def softmax_of(y):
    e = torch.exp(y - y.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


COMPUTED_FOR_ME = {
    "operator": lambda: torch.ops.aten._softmax(x(), -1, False),
    "out": lambda: torch.ops.aten._softmax.out(x(), -1, False, out=torch.empty(3, 4)),
    "decomposition": lambda: _TABLE[torch.ops.aten._softmax.default](x(), -1, False),
    "reference": lambda: torch._refs.softmax(x(), -1),
    "reference, by its wrapped function": lambda: torch._refs.special.softmax(x(), -1),
    "masked": lambda: torch.masked.softmax(x(), -1),
    "mkldnn": lambda: torch.softmax(x().to_mkldnn(), -1).to_dense(),
    "sparse": lambda: torch.sparse.softmax(x().to_sparse(), -1).to_dense(),
    "nested": lambda: torch.softmax(torch.nested.nested_tensor([x()]), -1)[0],
    "a graph": lambda: make_fx(lambda y: torch.softmax(y, -1))(x())(x()),
    "vmap": lambda: torch.vmap(lambda row: torch.softmax(row, -1))(x()),
    "logsumexp": lambda: torch.exp(x() - torch.logsumexp(x(), -1, keepdim=True)),
    "script": lambda: torch.exp(x() - _SCRIPT.total(x())),
    "the innermost ufunc": lambda: torch.exp(
        x()
        - torch.from_numpy(sys.modules["numpy._core.umath"].logaddexp.reduce(x().numpy(), 1))[
            :, None
        ]
    ),
}


@pytest.mark.parametrize("way", COMPUTED_FOR_ME)
def test_what_the_library_computes_is_noted(watcher, way):
    COMPUTED_FOR_ME[way]()
    assert watcher.seen


@pytest.mark.parametrize("way", COMPUTED_FOR_ME)
def test_what_is_noted_is_computed_as_ever(watcher, way):
    torch.testing.assert_close(COMPUTED_FOR_ME[way](), softmax_of(x()))


def test_attention_in_torchscript_is_noted(watcher):
    _SCRIPT.attention(x()[None])
    assert [b.call for b in watcher.seen] == ["scaled_dot_product_attention"]


def test_gradients_flow_through_what_is_noted(watcher):
    y = x().requires_grad_()
    torch.logsumexp(y, -1).sum().backward()
    torch.testing.assert_close(y.grad, softmax_of(x()))


def test_what_is_built_from_elementary_operations_is_not_noted(watcher):
    softmax_of(x().requires_grad_()).sum().backward()
    assert not watcher.seen


def test_a_check_against_torch_while_a_module_is_imported_is_its_own_affair(watcher):
    watcher.begin(PATTERNS, "", importing=True)
    torch.softmax(x(), -1)
    watcher.begin(PATTERNS, "")
    assert not watcher.seen


def test_a_decomposition_that_is_traced_while_a_module_is_imported_is_held_against_its_calls(
    watcher,
):
    watcher.begin(PATTERNS, "", importing=True)
    table = {torch.ops.aten._softmax.default: _TABLE[torch.ops.aten._softmax.default]}
    make_fx(lambda y: torch.softmax(y, -1), decomposition_table=table)(x())
    watcher.begin(PATTERNS, "")
    assert watcher.seen


def test_a_library_that_is_imported_later_is_looked_at(watcher, tmp_path, monkeypatch):
    package = tmp_path / "einops"
    package.mkdir()
    (package / "__init__.py").write_text("def softmax(x, axis=-1):\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "einops", raising=False)
    import einops

    assert einops.softmax(3, axis=0) == 3
    assert [b.call for b in watcher.seen] == ["softmax"]


IN_FULL = {
    "torch.masked.*": lambda: torch.masked.sum(x(), 1, mask=x() > 0),
    "torch.utils.checkpoint.*": lambda: checkpoint(torch.exp, x(), use_reentrant=False),
    "torch.onnx.ops.*": lambda: import_module("torch.onnx.ops").attention(*[x()[None, None]] * 3),
}


@pytest.mark.parametrize("pattern", IN_FULL)
def test_a_pattern_with_a_dot_means_a_function_by_its_full_name(pattern):
    install_hooks((pattern,))
    watcher = Watcher()
    watcher.begin((pattern,), "")
    try:
        torch.sum(x()), torch.exp(x())
        assert not watcher.seen
        IN_FULL[pattern]()
        assert fnmatchcase(watcher.seen[0].call, pattern)
    finally:
        watcher.begin((), "")


def test_what_a_class_of_a_named_module_inherits_is_left_alone():
    install_hooks(("torch.utils.checkpoint.*",))
    assert not is_hooked(inspect.unwrap(Enum._generate_next_value_))


def test_a_function_that_notes_keeps_its_signature(watcher):
    names = list(inspect.signature(torch.nn.functional.softmax).parameters)
    assert names == ["input", "dim", "_stacklevel", "dtype"]


def test_a_function_of_the_modules_own_is_left_alone(watcher):
    def softmax(y):
        return y

    assert softmax(1) == 1
    assert not watcher.seen


def test_a_library_that_is_imported_meets_numpys_own_function(watcher):
    assert isinstance(np.logaddexp, HookedUfunc)
    with original_ufuncs():
        assert isinstance(np.logaddexp, np.ufunc)
    assert isinstance(np.logaddexp, HookedUfunc)


def test_the_nets_are_up_again_after_an_import_that_failed(watcher):
    with pytest.raises(ImportError), original_ufuncs():
        raise ImportError("no such extra")
    assert isinstance(np.logaddexp, HookedUfunc)


def test_a_closure_can_be_made_to_note():
    offset = 2

    def softmax(y, *, scale=3):
        return scale * y + offset

    watcher = Watcher()
    watcher.begin(PATTERNS, "")
    hook_function(softmax, "softmax")
    assert (softmax(1), softmax(1, scale=1)) == (5, 3)
    assert isinstance(softmax, types.FunctionType)
    assert watcher.seen
    watcher.begin((), "")


_EVERY_WEEK = """
from pathlib import Path
import warnings
from autograder.model.course import load
from autograder.worker.monitor import operator_hooks as nets
warnings.simplefilter("ignore")
course = load(Path("."))
exercises = [(week, exercise.name) for week in course.weeks for exercise in week.exercises]
named = {week.patterns(name) for week, name in exercises}
nets.install_hooks(tuple(sorted({pattern for patterns in named for pattern in patterns})))
assert all(map(nets.hooks_cover, named)), [p for p in named if not nets.hooks_cover(p)]
assert not nets.hooks_cover(("relu",)), "nothing was put under it"
nets.install_hooks(("*einsum*", "sum_to_size"))
assert nets.hooks_cover(("*einsum*", "sum_to_size"))
nets.install_hooks(("getitem",))
assert not nets.hooks_cover(("getitem",)), "it has neither a kernel nor replaced code"
"""


def test_what_the_course_forbids_ends_in_a_net_so_no_mode_looks_at_every_call():
    done = subprocess.run([sys.executable, "-c", _EVERY_WEEK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("pattern", ["lstsq", "numpy.linalg.lstsq", "numpy.linalg.*"])
def test_a_numpy_function_that_was_imported_before_is_noted(pattern):
    program = (
        "import numpy as np\n"
        "from numpy.linalg import lstsq as alias\n"
        "from autograder.worker.monitor.function_hooks import hook_functions\n"
        f"hook_functions(({pattern!r},), lambda name, composed: print(name))\n"
        "print(alias(np.eye(2), np.ones(2))[0].tolist(), np.mean([1.0]))\n"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    first, *_, result = ran.stdout.splitlines()
    assert (first, result) == (pattern.replace("*", "lstsq"), "[1.0, 1.0] 1.0")
