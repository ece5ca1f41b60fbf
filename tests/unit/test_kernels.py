"""Test records of Triton kernels in the interpreter, and errors of Triton's compiler."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np
import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: pip install triton")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, in kernels

from autograder.grading.assertions.calls import Launched  # noqa: E402  # after the question for triton
from autograder.model.errors import EngineError  # noqa: E402
from autograder.worker.executor import Executor  # noqa: E402
from autograder.worker.protocol import frames  # noqa: E402
from autograder.worker.protocol.frames import split_reply  # noqa: E402
from autograder.worker.torch_support import fake_device  # noqa: E402
from autograder.worker.triton_support import interpreter, launch_trace  # noqa: E402
from autograder.worker.triton_support.provenance import Provenance  # noqa: E402

MODULE = """
from typing import NamedTuple

import torch, triton, triton.language as tl

LOOSE = 3.0

@triton.jit
def double(x, y, m, step, block: tl.constexpr, masked: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, block)
    inside = columns < (m if masked else block)
    values = tl.load(x + row * step + columns, mask=inside)
    tl.store(y + row * m + columns, 2 * values, mask=inside)

@triton.jit
def add_up(x, total):
    tl.store(total, tl.load(total) + tl.load(x + tl.program_id(0)))

@triton.jit
def add_up_atomically(x, total):
    tl.atomic_add(total, tl.load(x + tl.program_id(0)))

@triton.jit
def last_one(y):
    tl.store(y, tl.program_id(0))

@triton.jit
def moves_up(x):
    tl.store(x + tl.program_id(0), tl.load(x + tl.program_id(0) + 1))

@triton.jit
def overlaps(x, y, block: tl.constexpr):
    places = tl.minimum(tl.program_id(0) * (block - 1), 8 - block) + tl.arange(0, block)
    tl.store(y + places, tl.load(x + places))

@triton.jit
def twice_in_place(x, block: tl.constexpr):
    places = x + tl.program_id(0) * block + tl.arange(0, block)
    tl.store(places, 2 * tl.load(places))
    tl.store(places, 2 * tl.load(places))

@triton.jit
def in_place_masked(x, m, block: tl.constexpr):
    places, inside = x + tl.program_id(0) * m + tl.arange(0, block), tl.arange(0, block) < m
    tl.store(places, 2 * tl.load(places, inside), inside)

@triton.jit
def decoy_before(x, total, other):
    tl.atomic_add(other, 1)
    tl.store(total, tl.load(total) + tl.load(x + tl.program_id(0)))

@triton.jit
def decoy_after(x, total, other):
    tl.store(total, tl.load(total) + tl.load(x + tl.program_id(0)))
    tl.atomic_add(other, 1)

@triton.jit
def decoy_around(x, total, other):
    tl.atomic_add(other, 1)
    tl.store(total, tl.load(total) + tl.load(x + tl.program_id(0)))
    tl.atomic_add(other, 1)

@triton.jit
def decoy_relaxed(x, total, other):
    if tl.atomic_add(other, 1, sem="relaxed") >= 0:
        tl.store(total, tl.load(total) + tl.load(x + tl.program_id(0)))
    tl.atomic_add(other, 1, sem="relaxed")

@triton.jit
def clears_then_adds(x, total):
    if tl.program_id(0) == 0:
        tl.store(total, 0.0)
    tl.atomic_add(total, tl.load(x + tl.program_id(0)))

@triton.jit
def adds_then_looks(x, total):
    tl.atomic_add(total, tl.load(x + tl.program_id(0)))
    if tl.program_id(0) == 3:
        tl.store(x + 3, tl.load(total))

@triton.jit
def looks_then_adds(x, total):
    if tl.program_id(0) == 0:
        tl.store(x, tl.load(total))
    tl.atomic_add(total, tl.load(x + tl.program_id(0)))

@triton.jit
def add_up_under_a_lock(x, total, lock):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + tl.load(x + tl.program_id(0)))
    tl.atomic_xchg(lock, 0)

@triton.jit
def last_one_joins(x, parts, total, finished, block: tl.constexpr):
    number = tl.program_id(0)
    tl.store(parts + number, 2 * tl.load(x + number))
    if tl.atomic_add(finished, 1) == tl.num_programs(0) - 1:
        tl.store(total, tl.sum(tl.load(parts + tl.arange(0, block))))

@triton.jit
def reads_a_global(x, y):
    tl.store(y, tl.load(x) * LOOSE)

@triton.jit
def helped(v):
    return tl.max(v, 0) + v.sum(0)

@triton.jit
def calls_another(x, y, block: tl.constexpr):
    tl.store(y, helped(tl.load(x + tl.arange(0, block))))

@triton.jit
def by_address(x, where, y, block: tl.constexpr):
    columns = tl.arange(0, block)
    place = tl.load(where).to(tl.pointer_type(tl.float32))
    tl.store(y + columns, tl.load(place + columns))

class Steps(NamedTuple):
    row: int
    column: int

@triton.jit
def by_steps(x, y, steps, m):
    tl.store(y, tl.load(x + steps.row + m * steps.column))

@triton.jit
def negates_if(x, y, flag, block: tl.constexpr):
    places = tl.arange(0, block)
    values = tl.load(x + places)
    if flag:
        values = tl.where(flag & (places < 1), values, -values)
    tl.store(y + places, values)

@triton.jit
def small_product(x, y, block: tl.constexpr):
    places = tl.arange(0, block)[:, None] * block + tl.arange(0, block)[None, :]
    tile = tl.load(x + places)
    tl.store(y + places, tl.dot(tile, tile))
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Return the module above as a submission."""
    interpreter.setup()
    return imported(MODULE, "kernels_of_a_test", tmp_path_factory.mktemp("submission"))


def imported(text: str, name: str, folder: Path) -> ModuleType:
    """Import this text from a file, because Triton reads a kernel's source from its file."""
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.append(str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def seen(own: ModuleType, kernel: str, grid: int, *args: object, order: int | None = None):
    """Return the record of a kernel's only launch."""
    root = str(Path(str(own.__file__)).parent)
    with launch_trace.KernelWatch(root, order, noting=True, compiling=True) as watch:
        getattr(own, kernel)[(grid,)](*args)
    (launch,) = watch.launches
    return launch


def test_what_stays_inside_is_counted_and_right(own):
    x, y = torch.arange(12.0).view(3, 4), torch.zeros(3, 4)
    launch = seen(own, "double", 3, x, y, 4, 4, 8, True)
    assert torch.equal(y, 2 * x)
    assert launch == frames.LaunchCounts(3, 0, 0, largest=4, loads=((12, 1, 1),))


def test_a_load_outside_of_a_view_reads_nan_and_is_counted_with_its_line(own):
    whole = torch.arange(40.0).view(5, 8)
    y = torch.zeros(3, 8)
    launch = seen(own, "double", 3, whole[1:4, 1:5], y, 8, 8, 8, False)
    assert y.isnan().sum() == 12
    assert launch.outside_loads == 12
    assert launch.outside_stores == 0
    line = next(n for n, text in enumerate(MODULE.split("\n"), 1) if "values = tl.load" in text)
    assert launch.line == line


def test_a_store_outside_of_a_view_is_lost_and_counted(own):
    around = torch.full((5, 8), 7.0)
    launch = seen(own, "double", 1, torch.ones(8), around[2, :4], 0, 0, 8, False)
    assert launch.outside_stores == 4
    assert torch.equal(around[2], torch.tensor([2.0] * 4 + [7.0] * 4))
    assert (around[[0, 1, 3, 4]] == 7).all()


def test_a_store_past_the_end_is_outside_whatever_lies_there(own):
    memory = np.ones(8, np.float32)
    y, x = torch.from_numpy(memory[:4]), torch.from_numpy(memory[4:])
    launch = seen(own, "double", 1, x, y, 0, 0, 8, False)
    assert launch.outside_stores == 4
    assert memory.tolist() == [2.0] * 4 + [1.0] * 4


def test_an_address_that_a_kernel_was_given_as_a_number_leads_there(own):
    x, y = torch.arange(4.0), torch.zeros(4)
    launch = seen(own, "by_address", 1, x, torch.tensor([x.data_ptr()]), y, 4)
    assert torch.equal(y, x)
    assert (launch.outside_loads, launch.outside_stores) == (0, 0)


@pytest.mark.parametrize(("flag", "expected"), [(True, [1.0, -2.0]), (False, [1.0, 2.0])])
def test_a_flag_need_not_be_a_constant(own, flag, expected):
    y = torch.zeros(2)
    seen(own, "negates_if", 1, torch.tensor([1.0, 2.0]), y, flag, 2)
    assert y.tolist() == expected


def test_memory_that_was_asked_for_and_not_written_is_nan(own):
    with launch_trace.KernelWatch("", None, noting=False):
        assert torch.empty(5).isnan().all()


def races(own: ModuleType, kernel: str, grid: int, *args: object) -> dict[str, int]:
    """Return the number of elements for each kind of race between the programs of a launch."""
    return {race.kind: race.elements for race in seen(own, kernel, grid, *args).races}


def test_loading_what_another_program_stored_is_a_race(own):
    race = seen(own, "add_up", 4, torch.ones(4), torch.zeros(1)).races[0]
    assert (race.kind, race.elements) == ("read_after_write", 3)
    assert "tl.load(total)" in MODULE.split("\n")[race.line - 1]


def test_storing_what_another_program_loaded_is_a_race(own):
    x = torch.arange(5.0)
    assert races(own, "moves_up", 4, x) == {"write_after_read": 3}
    assert x.tolist() == [1, 2, 3, 4, 4]


def test_storing_what_another_program_stored_is_a_race(own):
    assert races(own, "last_one", 4, torch.zeros(1)) == {"write_after_write": 3}


def test_storing_the_same_value_in_several_programs_is_no_race(own):
    y = torch.zeros(8)
    assert races(own, "overlaps", 3, torch.arange(8.0), y, 4) == {}
    assert torch.equal(y, torch.arange(8.0))


def test_a_program_may_load_what_it_stored_itself(own):
    x = torch.arange(8.0)
    assert races(own, "twice_in_place", 2, x, 4) == {}
    assert torch.equal(x, 4 * torch.arange(8.0))


def test_lanes_that_are_masked_off_do_not_race(own):
    x = torch.arange(6.0)
    assert races(own, "in_place_masked", 2, x, 3, 4) == {}
    assert torch.equal(x, 2 * torch.arange(6.0))


def test_atomic_operations_do_not_race_with_each_other(own):
    total = torch.zeros(1)
    assert races(own, "add_up_atomically", 4, torch.ones(4), total) == {}
    assert total == 4


@pytest.mark.parametrize("decoy", ["decoy_before", "decoy_after", "decoy_around", "decoy_relaxed"])
def test_an_atomic_operation_elsewhere_hides_no_race(own, decoy):
    args = torch.ones(4), torch.zeros(1)
    found = races(own, decoy, 4, *args, torch.zeros(1, dtype=torch.int32))
    assert found == races(own, "add_up", 4, *args) != {}


@pytest.mark.parametrize(
    ("kernel", "kinds"),
    [
        ("clears_then_adds", {"write_after_write"}),
        ("adds_then_looks", {"read_after_write"}),
        ("looks_then_adds", {"write_after_read"}),
    ],
)
def test_an_atomic_operation_races_with_one_that_is_not(own, kernel, kinds):
    assert set(races(own, kernel, 4, torch.ones(4), torch.ones(1))) == kinds


def test_a_lock_orders_what_is_done_under_it(own):
    total, lock = torch.zeros(1), torch.zeros(1, dtype=torch.int32)
    assert races(own, "add_up_under_a_lock", 4, torch.ones(4), total, lock) == {}
    assert total == 4


def test_the_last_program_to_finish_may_load_what_the_others_stored(own):
    parts, total, finished = torch.zeros(4), torch.zeros(1), torch.zeros(1, dtype=torch.int32)
    args = torch.ones(4), parts, total, finished, 4
    assert races(own, "last_one_joins", 4, *args) == {}
    assert total == 8


def test_the_order_of_programs_is_another_one(own):
    last = set()
    for order in (None, 1, 2, 3, 4):
        y = torch.zeros(1, dtype=torch.int32)
        seen(own, "last_one", 6, y, order=order)
        last.add(int(y))
    assert 5 in last
    assert len(last) > 1


def test_a_pointer_to_another_device_is_refused_and_the_claimed_device_computes(own):
    x = torch.ones(4)
    there = fake_device.ClaimedTensor(x.clone())
    total = fake_device.ClaimedTensor(torch.zeros(1))
    seen(own, "add_up", 4, there, total)
    assert total.elem == 4
    with pytest.raises(ValueError, match="cannot be accessed from Triton"):
        seen(own, "add_up", 4, there, torch.zeros(1))


def test_the_compiler_takes_what_calls_other_functions(own):
    launch = seen(own, "calls_another", 1, torch.ones(16), torch.zeros(1), 16)
    assert launch.refused is None


def test_the_compiler_takes_a_named_tuple(own):
    launch = seen(own, "by_steps", 1, torch.ones(9), torch.zeros(1), own.Steps(2, 3), 2)
    assert launch.refused is None


@pytest.mark.parametrize(
    ("kernel", "args", "said"),
    [
        ("reads_a_global", (torch.ones(1), torch.zeros(1)), "Cannot access global variable LOOSE"),
        ("small_product", (torch.ones(4, 4), torch.zeros(4, 4), 4), "Input shapes should have"),
    ],
)
def test_the_compiler_refuses_what_the_interpreter_runs(own, kernel, args, said):
    refused = seen(own, kernel, 1, *args).refused
    assert refused is not None
    assert said in refused.message
    line = MODULE.split("\n")[refused.line - 1]
    assert "LOOSE" in line or "tl.dot" in line


def test_the_compiler_says_the_same_before_and_after_a_kernel_ran(own):
    for _ in range(2):
        assert seen(own, "calls_another", 1, torch.ones(32), torch.zeros(1), 32).refused is None
        assert seen(own, "reads_a_global", 1, torch.ones(1), torch.zeros(1)).refused is not None


def test_a_missing_operator_is_not_taken_for_an_unwritten_exercise(tmp_path):
    (tmp_path / "lacking.py").write_text(
        "import codecs\nimport torch\ndef f():\n    return codecs.Codec().encode('x')\n"
        "def h():\n    return torch.softmax(torch.ones(2, dtype=torch.int64), 0)\n"
        "def g():\n    raise NotImplementedError('g')\n",
        encoding="utf-8",
    )
    executor = Executor()
    executor.load_module(tmp_path / "lacking.py", unique=True)
    for name, unwritten in (("f", False), ("h", False), ("g", True)):
        call = frames.Call("f", None, name, (), {}, "cpu")
        reply = split_reply(executor.answer(call, []))[0]
        assert reply.raised is not None
        assert reply.raised.type == "NotImplementedError"
        assert ("NotImplementedError" in reply.raised.bases) is unwritten


# Computation outside of kernels

BESIDE = """
import math
import numpy as np
import torch, triton, triton.language as tl

KEPT = []

@triton.jit
def add_one(x, y, m, block: tl.constexpr):
    places = tl.arange(0, block)
    tl.store(y + places, tl.load(x + places, places < m, 0.0) + 1, places < m)

@triton.jit
def keep(x, m, block: tl.constexpr):
    KEPT.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, 0.0))

@triton.jit
def whole_tile(x, y):
    y.store([0, 0], x.load([0, 0]) + 1)

def launched(x, grid=(1,)):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    add_one[grid](x, y, x.numel(), 16)
    return y

def twice(x):
    wide = torch.zeros(2 * x.numel())
    wide[: x.numel()] = x.flip(0).contiguous()
    return launched(launched(wide))[: x.numel()].flip(0).to(x.dtype)

def in_place(x):
    y = x.clone()
    add_one[(1,)](y, y, y.numel(), 16)
    return y

def joined(x):
    y = torch.empty_like(x)
    add_one[(1,)](x, y, 2, 16)
    y[2:] = x[2:]
    return y

def by_descriptors(x):
    from triton.tools.tensor_descriptor import TensorDescriptor
    wide = x.new_zeros(4, 8)
    wide[0, : x.numel()] = x
    y = torch.empty_like(wide)
    tiles = [TensorDescriptor.from_tensor(t, [4, 8]) for t in (wide, y)]
    whole_tile[(1,)](*tiles)
    return y[0, : x.numel()]

def with_a_mask(x):
    mask = torch.tril(torch.ones(3, 3)) - 1
    return launched(x)

def in_python(x):
    return launched(torch.tensor([math.floor(v * 8) / 8 for v in x.tolist()]))

def in_numpy(x):
    return launched(torch.from_numpy(np.floor(np.asarray(x))))

def by_item(x):
    return launched(x.new_full((4,), float(x[0])))

def with_torch(x):
    return launched(torch.round(x, decimals=3))

def with_the_result(x):
    return torch.tensor([math.floor(v * 8) / 8 for v in launched(x).tolist()])

def in_the_grid(x):
    seen = []
    launched(x, lambda _: seen.append(x.clone()) or (1,))
    return seen[0] + 1

def in_a_kernel(x):
    keep[(1,)](x, x.numel(), 16)
    return torch.tensor((KEPT.pop().handle.data[: x.numel()] + 1).tolist())

def without_a_kernel(x):
    return x
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    interpreter.setup()
    return imported(BESIDE, "beside_kernels", tmp_path_factory.mktemp("beside"))


def outside(module: ModuleType, function: str, x: torch.Tensor) -> tuple[set[str], torch.Tensor]:
    """Return the operators that compute with x outside of kernels, and the result."""
    provenance = Provenance([x])
    with launch_trace.KernelWatch("", provenance=provenance), provenance:
        result = getattr(module, function)(x)
    provenance.check_result(result)
    return provenance.outside, result


@pytest.mark.parametrize("claimed", [False, True])
@pytest.mark.parametrize("function", ["launched", "in_place", "by_descriptors", "with_a_mask"])
def test_copies_views_and_other_tensors_are_allowed_around_kernels(beside, function, claimed):
    x = torch.tensor([3.5, -1.0, 0.25, 7.0])
    given = fake_device.ClaimedTensor(x.clone()) if claimed else x
    names, result = outside(beside, function, given)
    assert not names
    assert torch.equal(getattr(result, "elem", result), x + 1)


def test_rearranged_copies_of_kernels_results_are_results_of_kernels(beside):
    x = torch.tensor([3.5, -1.0, 0.0, 7.25]).half()
    names, result = outside(beside, "twice", x)
    assert not names
    assert torch.equal(result, x + 2)


def test_elements_that_no_kernel_wrote_may_be_copied_into_a_result(beside):
    x = torch.tensor([3.5, -1.0, 0.3, 7.25])
    names, result = outside(beside, "joined", x)
    assert not names
    assert torch.equal(result, torch.tensor([4.5, 0.0, 0.3, 7.25]))


F = torch.nn.functional
MOVES = {
    "as_strided": lambda x: x.as_strided((2, 2), (1, 2)),
    "contiguous": lambda x: x.T.contiguous(),
    "diagonal": lambda x: torch.diag_embed(x.diagonal()),
    "empty_like": lambda x: torch.empty_like(x).copy_(x),
    "flatten": lambda x: x.flatten().unflatten(0, (2, 4)),
    "gather": lambda x: x.gather(1, torch.tensor([[3, 0], [1, 2]])),
    "half": lambda x: x.half().double(),
    "hstack": lambda x: torch.hstack([x, x]),
    "index_fill": lambda x: x.index_fill(1, torch.tensor([0]), -math.inf),
    "index_put": lambda x: x.clone().index_put_((torch.tensor([0]),), x[1]),
    "masked_select": lambda x: x.masked_select(torch.tensor([True, False, True, True])),
    "masked_fill": lambda x: x.masked_fill(torch.eye(4).bool()[:2], -math.inf),
    "movedim": lambda x: x.movedim(0, 1).reshape(-1),
    "new_zeros": lambda x: torch.cat([x, x.new_zeros(1, 4)]),
    "pad": lambda x: F.pad(x, (0, 3), value=-math.inf),
    "pad_circular": lambda x: F.pad(x[None], (1, 1), mode="circular"),
    "pad_reflect": lambda x: F.pad(x[None], (1, 1), mode="reflect"),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x.reshape(1, 4, 1, 2), 2),
    "repeat_interleave": lambda x: x.repeat_interleave(3, dim=0),
    "repeat_interleave_tensor": lambda x: x.repeat_interleave(torch.tensor([1, 2]), dim=0),
    "roll": lambda x: x.roll(1, 0),
    "scatter": lambda x: torch.zeros(2, 5).scatter(1, torch.tensor([[4], [0]]), x),
    "split": lambda x: torch.stack(x.split(2, dim=1)),
    "take_along_dim": lambda x: x.take_along_dim(torch.tensor([[1]]), 1),
    "tile": lambda x: x.tile(2, 2),
    "tril": lambda x: x.tril(),
    "unbind": lambda x: torch.vstack(x.unbind(1)),
    "unfold": lambda x: x.unfold(1, 2, 2).clone(),
    "unfold_columns": lambda x: F.unfold(x[None, None], (2, 2)),
    "where": lambda x: torch.where(torch.arange(4) < 3, x, -math.inf),
}
COMPUTES = {
    "abs": lambda x: x.abs(),
    "amax": lambda x: x.amax(1),
    "bmm": lambda x: x[None] @ x.T[None],
    "clamp": lambda x: x.clamp(min=0.0),
    "col2im": lambda x: F.fold(x.reshape(1, 4, 2), (2, 3), (2, 2)),
    "cosine": lambda x: x[:1, :1].cos(),
    "dropout": lambda x: F.dropout(x, 0.5),
    "equal": lambda x: x == x.T.reshape(2, 4),
    "is_nan": lambda x: x.isnan(),
    "nan_to_num": lambda x: x.nan_to_num(),
    "exponential": lambda x: x.exp_(),
    "mean": lambda x: x.mean(),
    "minus": lambda x: -x,
    "plus": lambda x: x + 1,
    "scatter_add": lambda x: torch.zeros(2, 1).scatter_add(1, torch.zeros(2, 4).long(), x),
    "sign": lambda x: x[0, 0].sign(),
    "softmax": lambda x: x.softmax(-1),
    "sort": lambda x: x.sort().values,
    "square": lambda x: x[:1, :1].square(),
    "sum": lambda x: x.sum(),
    "times": lambda x: x * 0.5,
    "topk": lambda x: x.topk(2).values,
}


@pytest.mark.parametrize("claimed", [False, True])
@pytest.mark.parametrize("name", [*MOVES, *COMPUTES])
def test_operators_that_move_values_are_told_from_those_that_compute(beside, name, claimed):
    x = torch.tensor([[3.5, -1.0, 0.25, 7.0], [0.0, 2.0, -math.inf, 1.0]])
    given = fake_device.ClaimedTensor(x.clone()) if claimed else x
    provenance = Provenance([given])
    with provenance, torch.device(given.device):
        {**MOVES, **COMPUTES}[name](given)
    assert bool(provenance.outside) is (name in COMPUTES)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        *(("in_python", "tolist"), ("in_numpy", "array"), ("by_item", "local_scalar_dense")),
        *(("with_torch", "round"), ("with_the_result", "tolist"), ("in_the_grid", "add")),
        *(("in_a_kernel", "result"), ("without_a_kernel", "result")),
    ],
)
def test_what_computes_with_values_beside_a_kernel_or_reads_them_is_named(beside, function, name):
    names, _ = outside(beside, function, torch.tensor([3.5, -1.0, 0.25, 7.0]))
    assert name in names


def test_a_compiler_that_nobody_asked_says_nothing():
    launch = frames.LaunchCounts(1, 0, 0, largest=1, loads=())
    assert not Launched((), launch, compiled=True).refused
    with pytest.raises(EngineError, match="compiled"):
        _ = Launched((), launch).refused


def test_a_race_has_a_place_and_one_of_three_kinds():
    races = (frames.Race("write_after_write", 3, 2),)
    launch = frames.LaunchCounts(1, 0, 0, largest=1, loads=(), races=races)
    assert Launched(("x = y", "tl.store(x, y)"), launch).races[0].place == " (line 2)"
    said = msgspec.msgpack.encode(races[0])
    assert msgspec.msgpack.decode(said, type=frames.Race) == races[0]
    with pytest.raises(msgspec.ValidationError, match="kind"):
        msgspec.msgpack.decode(said.replace(b"_write", b"_wrong"), type=frames.Race)


def test_launches_are_compiled_only_where_that_is_asked(own):
    args = torch.ones(1), torch.zeros(1)
    with launch_trace.KernelWatch("", None, noting=True) as watch:
        own.reads_a_global[(1,)](*args)
    assert watch.launches[0].refused is None
    assert seen(own, "reads_a_global", 1, *args).refused is not None
