"""What is seen of a Triton kernel in the interpreter, and what a compiler says of it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import numpy as np
import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: pip install triton")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, within kernels

from autograder.grading.assertions.calls import Launched  # noqa: E402  # after the question for triton
from autograder.grading.targets.in_process import split_reply  # noqa: E402
from autograder.model.errors import EngineError  # noqa: E402
from autograder.worker.executor import Executor  # noqa: E402
from autograder.worker.monitor.call_watch import Counting  # noqa: E402
from autograder.worker.protocol import frames  # noqa: E402
from autograder.worker.torch_support import fake_device  # noqa: E402
from autograder.worker.triton_support import interpreter  # noqa: E402
from autograder.worker.triton_support.hidden_inputs import Withheld  # noqa: E402

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
def small_product(x, y, block: tl.constexpr):
    places = tl.arange(0, block)[:, None] * block + tl.arange(0, block)[None, :]
    tile = tl.load(x + places)
    tl.store(y + places, tl.dot(tile, tile))
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The module above, as a submission's."""
    interpreter.setup()
    return imported(MODULE, "kernels_of_a_test", tmp_path_factory.mktemp("submission"))


def imported(text: str, name: str, folder: Path) -> ModuleType:
    """A module of that text: Triton reads a kernel's source from its file."""
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.append(str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def seen(own: ModuleType, kernel: str, grid: int, *args: object, order: int | None = None):
    """The one launch of a kernel, watched."""
    root = str(Path(str(own.__file__)).parent)
    with (
        interpreter.watching(root, order, noting=True, asking=True) as watch,
        Counting() as counting,
    ):
        getattr(own, kernel)[(grid,)](*args)
    counts = watch.added_to(counting.counts(0), counting.operators, counting.numbers)
    (launch,) = counts.launches
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


def test_memory_that_was_asked_for_and_not_written_is_nan(own):
    with interpreter.watching("", None, noting=False):
        assert torch.empty(5).isnan().all()


def races(own: ModuleType, kernel: str, grid: int, *args: object) -> dict[str, int]:
    """For each kind of race between the programs of a launch, the number of elements."""
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


def test_what_computes_beside_the_kernels_is_named(own):
    x, total = torch.ones(4), torch.zeros(1)
    with interpreter.watching("", None, noting=True) as watch, Counting() as counting:
        own.add_up[(4,)](x.contiguous(), total)
        torch.empty(3).copy_(x[:3]).exp()
    counts = watch.added_to(counting.counts(0), counting.operators, counting.numbers)
    assert counts.computed == ("exp",)


def test_what_triton_lacks_is_not_taken_for_an_exercise_that_is_not_written(tmp_path):
    (tmp_path / "lacking.py").write_text(
        "import codecs\ndef f():\n    return codecs.Codec().encode('x')\n"
        "def g():\n    raise NotImplementedError('g')\n",
        encoding="utf-8",
    )
    executor = Executor()
    executor.load_module(tmp_path / "lacking.py", unique=True)
    for name, unwritten in (("f", False), ("g", True)):
        call = frames.Call("f", None, name, (), {}, "cpu")
        reply = split_reply(executor.answer(call, []))[0]
        assert reply.raised is not None
        assert reply.raised.type == "NotImplementedError"
        assert ("NotImplementedError" in reply.raised.bases) is unwritten


# What is withheld from everything but kernels

BESIDE = """
import dataclasses, math, types
from typing import NamedTuple
import numpy as np
import torch, triton, triton.language as tl

KEPT = []
OTHERS = tl

@triton.jit
def shifted(v, by: tl.constexpr):
    return tl.where(v > -math.inf, v + by, v)

@triton.jit
def add_one(x, y, m, block: tl.constexpr):
    places = tl.arange(0, block)
    values = tl.load(x + places, places < m, 0.0)
    tl.store(y + places, shifted(values, 1), places < m)

@triton.jit
def keep(x, m, block: tl.constexpr):
    KEPT.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, 0.0))

@triton.jit
def fail(x, y):
    tl.store(y, tl.load(x))
    tl.arange(0, 3.5)

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

def in_python(x):
    return launched(torch.tensor([math.floor(v * 8) / 8 for v in x.tolist()]))

def with_torch(x):
    return launched(torch.round(x, decimals=3))

def with_what_came_out(x):
    return torch.tensor([math.floor(v * 8) / 8 for v in launched(x).tolist()])

def in_the_grid(x):
    seen = []
    launched(x, lambda _: seen.append(x.clone()) or (1,))
    return seen[0] + 1

def in_a_hook(x):
    seen = []
    add_one.add_pre_run_hook(lambda *args, **_: seen.append(args[0].clone()))
    launched(x)
    add_one.pre_run_hooks.clear()
    return seen[0] + 1

def in_a_kernel(x):
    keep[(1,)](x, x.numel(), 16)
    return torch.tensor(KEPT.pop().handle.data[: x.numel()]) + 1

def in_a_patch(x):
    plain = tl.load
    def load(*args, **kwargs):
        KEPT.append(plain(*args, **kwargs))
        return KEPT[-1]
    tl.load = load
    launched(x)
    return torch.tensor(KEPT.pop().handle.data[: x.numel()]) + 1 if KEPT else x + 1

@triton.constexpr_function
def doubled(n):
    return 2 * math.ceil(n)

@triton.jit
def say(x, y, m, change: tl.constexpr, block: tl.constexpr):
    print("m", m)
    places = tl.arange(0, block)
    values = change(tl.load(x + places, places < m, 0.0), doubled(0.5))
    tl.store(y + places, values - 1, places < m)

@triton.jit
def whole_tile(x, y):
    y.store([0, 0], x.load([0, 0]) + 1)

def with_a_given_function(x):
    y = torch.empty_like(x)
    say[(1,)](x, y, x.numel(), shifted, 16)
    return y

def by_descriptors(x):
    from triton.tools.tensor_descriptor import TensorDescriptor
    wide = x.new_zeros(4, 8)
    wide[0, : x.numel()] = x
    y = torch.empty_like(wide)
    tiles = [TensorDescriptor.from_tensor(t, [4, 8]) for t in (wide, y)]
    whole_tile[(1,)](*tiles)
    return y[0, : x.numel()]

HELD = tl.constexpr(KEPT)

@triton.jit
def hold(x, m, block: tl.constexpr):
    HELD.value.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, 0.0))

def in_a_constant(x):
    hold[(1,)](x, x.numel(), 16)
    return torch.tensor(KEPT.pop().handle.data[: x.numel()]) + 1

def in_what_is_printed(x):
    import contextlib, io
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        tell[(1,)](x, x.numel())
    said = [float(line.split()[-1].strip("[]")) for line in printed.getvalue().splitlines()]
    return torch.tensor(said) + 1 if said else x + 1

@triton.jit
def tell(x, m):
    for i in range(m):
        print(tl.load(x + i))

@triton.jit
def found(x, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, 0.0)
    assert m < 0, values

def in_what_is_raised(x):
    try:
        found[(1,)](x, x.numel(), 16)
    except Exception as error:
        args = [*error.args, *getattr(error.__cause__, "args", ())]
        if args and hasattr(args[-1], "handle"):
            return torch.tensor(args[-1].handle.data[: x.numel()]) + 1
    return x + 1

def in_a_special_method(x):
    plain = tl.tensor.__add__
    tl.tensor.__add__ = lambda self, other: KEPT.append(x.clone()) or plain(self, other)
    launched(x)
    tl.tensor.__add__ = plain
    return (KEPT.pop() if KEPT else x) + 1

def in_the_middle_of_the_grid(x):
    builder, seen = triton.runtime.interpreter.interpreter_builder, []
    launched(x, lambda _: builder.set_grid_dim(1, 1, 1) or seen.append(x.clone()) or (1,))
    return seen[0] + 1

def by_its_own_executor(x):
    seen = []
    executor = triton.runtime.interpreter.GridExecutor
    executor(lambda x: seen.append(x) or tl.load(x), ["x"], (1,))(x)
    return torch.tensor(seen[0].handle.data).float() + x + 1

@triton.jit
def mark(x, y, m, block: tl.constexpr):
    places = tl.arange(0, block)
    bits = tl.load(x + places, places < m, 0.0).to(tl.int32, bitcast=True)
    for bit in range(32):
        tl.store(y + places * 32 + bit, 1.0, (places < m) & (((bits >> bit) & 1) == 1))

def in_what_was_written(x):
    import numpy as np
    marks = torch.zeros(x.numel(), 32)
    mark[(1,)](x, marks, x.numel(), 16)
    bits = (marks.numpy() != 0).astype(np.uint64) << np.arange(32, dtype=np.uint64)
    return torch.tensor(bits.sum(1).astype(np.uint32).view(np.float32).tolist()) + 1

def in_a_warning(x):
    import warnings
    plain, seen = warnings.showwarning, []
    warnings.showwarning = lambda *_, **__: seen.append(x.clone())
    warnings.simplefilter("always")
    divide[(1,)](x, torch.empty_like(x), x.numel(), 16)
    warnings.showwarning = plain
    return (seen[0] if seen else x) + 1

@triton.jit
def divide(x, y, m, block: tl.constexpr):
    places = tl.arange(0, block)
    tl.store(y + places, tl.load(x + places, places < m, 0.0) / 0.0, places < m)
@dataclasses.dataclass(frozen=True)
class Tile:
    block: int
    by: float = 1.0
    host: object = None

    @property
    def half(self):
        return self.block // 2

    def whole(self, m):
        return tl.minimum(m, self.block)

    def keep(self, values):
        KEPT.append(values)
        return values

    def grid(self, m):
        return (len(KEPT) + triton.cdiv(m, self.block),)

@dataclasses.dataclass
class Nested:
    tile: Tile

class Plain:
    def __init__(self, block):
        self.block, self.by, self.half = block, 1.0, block // 2

    def whole(self, m):
        return m

    def __hash__(self):
        KEPT.append(0)
        return 0

class Named(NamedTuple):
    block: int
    by: float
    half: int

    def keep(self, values):
        KEPT.append(values)
        return values

class Pair(NamedTuple):
    x: object
    y: object

@triton.jit
def add_by(x, y, m, tile: tl.constexpr):
    places = tl.arange(0, 2)[:, None] * tile.half + tl.arange(0, tile.half)[None, :]
    inside = places < tile.whole(m)
    tl.store(y + places, tl.load(x + places, inside, 0.0) + tile.by, inside)

@triton.jit
def add_by_named(x, y, m, tile: tl.constexpr):
    places = tl.arange(0, tile.block)
    tl.store(y + places, tl.load(x + places, places < m, 0.0) + tile.by, places < m)

@triton.jit
def add_by_default(x, y, m, tile: tl.constexpr = Tile(16)):
    add_by(x, y, m, tile)

@triton.jit
def keep_by(x, m, tile: tl.constexpr):
    tile.keep(tl.load(x + tl.arange(0, tile.block), tl.arange(0, tile.block) < m, 0.0))

@triton.jit
def add_pair(pair, m, nested: tl.constexpr):
    add_by(pair.x, pair.y, m, nested.tile)

def _by(x, kernel, *tile):
    y = torch.empty_like(x)
    kernel[Tile(16).grid(x.numel())](x, y, x.numel(), *tile)
    return y

def with_a_dataclass(x):
    return _by(x, add_by, Tile(16, host=KEPT))

def with_a_plain_object(x):
    result = _by(x, add_by, Plain(16))
    return result if not KEPT else KEPT.clear()

def with_a_named_tuple(x):
    return _by(x, add_by_named, Named(16, 1.0, 8))

def with_a_namespace(x):
    return _by(x, add_by, types.SimpleNamespace(block=16, by=np.float64(1), half=8, whole=shown))

def shown(m):
    return m

def with_a_default(x):
    return _by(x, add_by_default)

def with_records_in_records(x):
    pair = Pair(x, torch.empty_like(x))
    add_pair[(1,)](pair, x.numel(), Nested(Tile(16)))
    return pair.y

def _kept_by(x, tile):
    try:
        keep_by[(1,)](x, x.numel(), tile)
    except Exception:  # there is no such method
        return x
    return torch.tensor(KEPT.pop().handle.data[: x.numel()]) + 1

def in_a_record_of_the_grid(x):
    def grid(meta):
        meta["tile"].keep = Tile(16).keep
        return (1,)
    keep_by[grid](x, x.numel(), Tile(16))
    return torch.tensor(KEPT.pop().handle.data[: x.numel()]) + 1

def in_a_method(x):
    return _kept_by(x, Tile(16))

def in_a_named_tuple(x):
    return _kept_by(x, Named(16, 1.0, 8))

TUPLE = Named(16, 1.0, 8)

@triton.jit
def keep_in_a_tuple(x, m, block: tl.constexpr):
    TUPLE.keep(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, 0.0))

def in_a_tuple(x):
    keep_in_a_tuple[(1,)](x, x.numel(), 16)
    return torch.tensor(KEPT.pop().handle.data[: x.numel()]) + 1

@triton.jit
def ask(x: tl.constexpr, y: tl.constexpr):
    y.copy_(x.add(1))

def in_a_tensor(x):
    y = torch.empty_like(x)
    ask[(1,)](x, y)
    return y

@triton.jit
def compare(x, small, m, bit, block: tl.constexpr):
    places = tl.arange(0, block)
    values = tl.load(x + places, places < m, 0.0)
    tl.store(small + places, (values > bit).to(small.dtype.element_ty), places < m)

@triton.jit
def choose(x, small, y, m, block: tl.constexpr):
    places = tl.arange(0, block)
    above = tl.load(small + places, places < m) != 0
    values = tl.load(x + places, places < m)
    tl.store(y + places, tl.where(above, values + 1, -1.0), places < m)

def _between(x, dtype, then=lambda small: small):
    small, y = torch.empty(x.numel(), dtype=dtype), torch.empty_like(x)
    compare[(1,)](x, small, x.numel(), -2.0, 16)
    choose[(1,)](x, then(small), y, x.numel(), 16)
    return y

def through_bool(x):
    return _between(x, torch.bool)

def through_int8(x):
    return _between(x, torch.int8)

def through_int16(x):
    return _between(x, torch.int16)

def through_a_view(x):
    return _between(x, torch.bool, lambda small: small.view(torch.uint8))

def in_bits(x):
    found = torch.zeros_like(x)
    for step in range(-40, 41):
        small = torch.empty(x.numel(), dtype=torch.bool)
        compare[(1,)](x, small, x.numel(), step / 4 - 0.125, 16)
        found += small * 0.25
    return found - 10 + 1

def after_a_failure(x):
    try:
        fail[(1,)](x, torch.empty(1))
    except Exception:
        pass
    return x.clone() + 1
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    interpreter.setup()
    interpreter.remember()
    return imported(BESIDE, "beside_kernels", tmp_path_factory.mktemp("beside"))


def withheld(module: ModuleType, function: str, x: torch.Tensor) -> torch.Tensor:
    """The result of a call that finds the numbers of x only while a kernel runs."""
    own = Withheld([x])
    with interpreter.watching("", None, False, own):
        result = getattr(module, function)(x)
    own.give_back([result])
    return result


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(
    "function",
    [
        *("launched", "in_place", "with_a_given_function", "by_descriptors"),
        *("with_a_dataclass", "with_a_plain_object", "with_a_named_tuple", "with_a_namespace"),
        *("with_a_default", "with_records_in_records"),
    ],
)
def test_kernels_find_the_numbers(beside, function, dtype):
    x = torch.tensor([3.5, -1.0, 0.0, -torch.inf, 7.25]).to(dtype)
    before = x.clone()
    assert torch.equal(withheld(beside, function, x), before + 1)
    assert torch.equal(x, before)


def test_numbers_are_found_in_copies_of_copies_and_of_results(beside):
    x = torch.tensor([3.5, -1.0, 0.0, 7.25]).half()
    assert torch.equal(withheld(beside, "twice", x), x + 2)


@pytest.mark.parametrize(
    "function", ["through_bool", "through_int8", "through_int16", "through_a_view"]
)
def test_what_is_too_small_for_stand_ins_is_found_where_it_was(beside, function):
    x = torch.tensor([3.5, -1.0, -5.0, 7.25])
    assert torch.equal(withheld(beside, function, x), torch.tensor([4.5, 0.0, -1.0, 8.25]))


def test_what_was_written_over_since_is_not_brought_back(beside):
    x = torch.tensor([3.5, 1.0, 0.0, 7.25])
    small = torch.empty(4, dtype=torch.int8)
    own = Withheld([x])
    with interpreter.watching("", None, False, own):
        beside.compare[(1,)](x, small, 4, 0.5, 16)
        small[1] = 0
        y = torch.empty(4)
        beside.choose[(1,)](x, small, y, 4, 16)
    own.give_back([y])
    assert torch.equal(y, torch.tensor([4.5, -1.0, -1.0, 8.25]))


def test_what_no_kernel_wrote_may_be_in_a_result(beside):
    x = torch.tensor([3.5, -1.0, 0.3, 7.25])
    assert torch.equal(withheld(beside, "joined", x), torch.tensor([4.5, 0.0, 0.3, 7.25]))


def test_views_of_one_memory_are_found_once(beside):
    memory = torch.arange(12.0).half()
    own = Withheld([memory[::2], memory[1::2].expand(3, 6), memory])
    assert not torch.equal(memory, torch.arange(12.0).half())
    own.give_back([memory[3:5]])
    assert torch.equal(memory, torch.arange(12.0).half())


@pytest.mark.parametrize(
    "function",
    [
        *("in_python", "with_torch", "with_what_came_out", "in_the_grid", "in_a_hook"),
        *("in_a_kernel", "in_a_patch", "after_a_failure"),
        *("in_a_constant", "in_what_is_printed", "in_what_is_raised", "in_a_special_method"),
        *("in_the_middle_of_the_grid", "by_its_own_executor", "in_what_was_written"),
        *("in_a_warning", "in_a_method", "in_a_named_tuple", "in_a_record_of_the_grid"),
        *("in_a_tuple", "in_a_tensor", "in_bits"),
    ],
)
def test_whoever_computes_beside_a_kernel_computes_with_other_numbers(beside, function):
    x = torch.tensor([3.5, -1.0, 0.25, 7.0])
    before = x.clone()
    assert not torch.allclose(withheld(beside, function, x), before + 1)
    assert torch.equal(x, before)
    assert torch.equal(withheld(beside, "launched", x), before + 1)


def test_a_compiler_that_nobody_asked_says_nothing():
    launch = frames.LaunchCounts(1, 0, 0, largest=1, loads=())
    assert not Launched((), launch, asked=True).refused
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
    with interpreter.watching("", None, noting=True) as watch, Counting() as counting:
        own.reads_a_global[(1,)](*args)
    counts = watch.added_to(counting.counts(0), counting.operators, counting.numbers)
    assert counts.launches[0].refused is None
    assert seen(own, "reads_a_global", 1, *args).refused is not None
