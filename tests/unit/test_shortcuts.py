"""Shortcuts through Triton's interpreter answer as it does, and leave it what they do not know."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

tl = pytest.importorskip("triton.language", reason="triton is not installed: pip install triton")

# isort: off
from autograder.worker.triton_support import interpreter as kernels  # noqa: E402
from autograder.worker.triton_support import shortcuts  # noqa: E402
# isort: on

kernels.setup()

from triton.language import core  # noqa: E402  # as the interpreter has it
from triton.language.semantic import IncompatibleTypeErrorImpl  # noqa: E402
from triton.runtime import interpreter  # noqa: E402


def block(shape: list[object], kind: object = tl.float32) -> object:
    return core.block_type(kind, shape)


def test_a_block_that_is_known_is_not_looked_at_again(monkeypatch):
    first = block([4, 16])
    monkeypatch.setattr(core, "validate_block_shape", None)
    again = block([4, 16])
    assert (again, again.numel, again.name) == (first, 64, first.name)
    assert again.with_element_ty(tl.float32) == first


@pytest.mark.parametrize(
    "shape", [[3], [4.0], [core.constexpr(2), 3], []], ids=["three", "float", "constant", "none"]
)
def test_what_is_no_shape_of_a_block_is_none_the_second_time_either(shape):
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)):
            block(shape)


def test_true_is_not_taken_for_the_one_that_is_known():
    assert type(block([1]).shape.values[0]) is int
    assert type(block([True]).shape.values[0]) is bool


def test_types_of_one_shape_are_told_apart():
    names = {
        block([8], kind).name for kind in (tl.float32, tl.int32, core.pointer_type(tl.float32))
    }
    assert len(names) == 3


def tensor(*shape: int) -> object:
    kind = block(list(shape), tl.int32)
    data = interpreter.np.arange(interpreter.np.prod(shape), dtype="int32").reshape(shape)
    return core.tensor(interpreter.TensorHandle(data, tl.int32), kind)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        ((8,), (8,), (8,)),
        ((1,), (8,), (8,)),
        ((4, 1), (1, 8), (4, 8)),
        ((4, 8), (4, 8), (4, 8)),
    ],
)
def test_blocks_are_spread_as_the_interpreter_spreads_them(left, right, both):
    mine, theirs = tensor(*left), tensor(*right)
    semantic = interpreter.interpreter_semantic
    plain = type(semantic).broadcast_impl_value(semantic, mine, theirs)
    quick = semantic.broadcast_impl_value(mine, theirs)
    for a, b in zip(plain, quick, strict=True):
        assert a.type == b.type
        assert tuple(b.type.shape.values) == both
        assert (a.handle.data == b.handle.data).all()


def test_blocks_that_do_not_fit_are_refused_in_the_interpreters_words():
    with pytest.raises(ValueError, match="incompatible dimensions"):
        interpreter.interpreter_semantic.broadcast_impl_value(tensor(4), tensor(8))


def test_an_interpreter_with_other_parts_is_left_alone():
    def other(kind, place):
        return kind

    owner = SimpleNamespace(_get_np_dtype=other, _patch_builtin=other, broadcast_impl_value=other)
    shortcuts._remember_types_of_numpy(owner)
    shortcuts._remember_the_language(owner, core)
    shortcuts._broadcast_what_differs(core, owner)
    assert {id(value) for value in vars(owner).values()} == {id(other)}


@pytest.mark.parametrize("kinds", [(tl.int32, tl.int32), (tl.int32, tl.float32)])
@pytest.mark.parametrize("division", [False, True])
def test_numbers_are_computed_with_as_the_interpreter_says_the_second_time_too(kinds, division):
    semantic = interpreter.interpreter_semantic
    left, right = (tensor(8).to(kind, _semantic=semantic) for kind in kinds)
    plain = type(semantic).binary_op_type_checking_impl(semantic, left, right, div_or_mod=division)
    for _ in range(2):
        quick = semantic.binary_op_type_checking_impl(left, right, div_or_mod=division)
        assert [x.type for x in quick] == [x.type for x in plain]
        assert [x.handle.data.tolist() for x in quick] == [x.handle.data.tolist() for x in plain]


def test_pointers_and_numbers_are_told_apart():
    semantic = interpreter.interpreter_semantic
    pointer = core.tensor(tensor(8).handle, block([8], core.pointer_type(tl.float32)))
    for _ in range(2):
        with pytest.raises(IncompatibleTypeErrorImpl):
            semantic.binary_op_type_checking_impl(pointer, tensor(8))


def test_what_is_wrapped_is_unwrapped():
    assert core._unwrap_if_constexpr([core.constexpr(2), 3, (core.constexpr("a"),)]) == [
        2,
        3,
        ("a",),
    ]
    same = tensor(8)
    assert core._unwrap_if_constexpr(same) is same


def pointer_to(*shape: int) -> object:
    kind = core.pointer_type(tl.float32)
    data = tensor(*shape).handle.data.astype("uint64")
    return core.tensor(interpreter.TensorHandle(data, kind), block(list(shape), kind))


def real(value: float) -> object:
    return interpreter.interpreter_semantic.scalar_constant(value, tl.float32)


OPERANDS = [
    (lambda: tensor(4, 1), lambda: tensor(1, 8)),
    (lambda: tensor(4, 8), lambda: tensor(1, 8)),
    (lambda: tensor(8), lambda: tensor(4, 8)),
    (lambda: tensor(4, 8), lambda: 3),
    (lambda: tensor(4, 8), lambda: 2.5),
    (lambda: tensor(4, 8), lambda: real(2.5)),
    (lambda: real(2.5), lambda: tensor(4, 8)),
    (lambda: pointer_to(4, 1), lambda: tensor(1, 8)),
]
OPERATIONS = {
    "add": (False,),
    "sub": (False,),
    "mul": (False,),
    "truediv": (),
    "less_than": (),
    "maximum": (tl.PropagateNan.NONE,),
}


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("left", "right"), OPERANDS)
def test_operands_that_are_spread_late_make_what_the_interpreter_makes(
    monkeypatch, operation, left, right
):
    semantic = interpreter.interpreter_semantic
    if "pointer" in str(left().type) and operation != "add":
        pytest.skip("pointers are added to")

    def made() -> tuple[object, ...]:
        got = getattr(semantic, operation)(left(), right(), *OPERATIONS[operation])
        data = got.handle.data
        return got.type, data.shape, data.dtype, str(data.tolist())  # NaN equals NaN

    made()  # what is known afterwards
    quick = made()
    for name in ("binary_op_type_checking_impl", "broadcast_impl_value"):
        monkeypatch.delattr(semantic, name)  # the class has Triton's own
    assert quick == made()
    assert list(quick[1]) == [4, 8]


def test_where_spreads_both_values():
    semantic = interpreter.interpreter_semantic
    for _ in range(2):
        chosen = semantic.where(tensor(4, 8).__lt__(7, _semantic=semantic), tensor(4, 1), real(9.0))
        assert chosen.handle.data.shape == (4, 8)
        assert chosen.handle.data[3].tolist() == [9.0] * 8
        assert chosen.handle.data[0].tolist() == [0.0] * 7 + [9.0]


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_zeros_of_either_sign_are_told_apart():
    semantic = interpreter.interpreter_semantic
    x = tensor(2).to(tl.float32, _semantic=semantic)
    told_apart = np.signbit(semantic.to_tensor(-0.0).handle.data).all()  # by Triton, since 3.8
    for _ in range(2):
        signs = [semantic.truediv(x.__add__(1, _semantic=semantic), z) for z in (0.0, -0.0)]
        wanted = [float("inf"), float("-inf") if told_apart else float("inf")]
        assert [s.handle.data[0] for s in signs] == wanted


def test_numbers_of_one_value_and_another_kind_are_told_apart():
    semantic = interpreter.interpreter_semantic
    for _ in range(2):
        kinds = [semantic.mul(tensor(2), n, False).dtype for n in (2, 2.0)]
        assert kinds == [tl.int32, tl.float32]


def test_a_number_that_a_type_does_not_hold_is_refused_in_the_interpreters_words():
    for _ in range(2):
        with pytest.raises(ValueError, match="out of range"):
            interpreter.interpreter_semantic.mul(tensor(2), 1 << 40, False)


def test_numbers_too_wide_for_their_type_are_refused():
    with pytest.raises(ValueError, match="exceeds dtype"):
        interpreter.TensorHandle(interpreter.np.zeros(2), tl.float32)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_axis_is_put_in_without_a_copy(axis):
    x = tensor(4, 8).handle
    data = interpreter.InterpreterBuilder().create_expand_dims(x, axis).data
    assert data.shape == interpreter.np.expand_dims(x.data, axis).shape
    assert interpreter.np.shares_memory(data, x.data)


def test_one_number_and_one_axis_are_repeated():
    builder = interpreter.InterpreterBuilder()
    kind = block([4, 8], tl.float32)
    assert (builder.create_splat(kind, real(2.5).handle).data == 2.5).all()
    assert builder.create_splat(kind, real(2.5).handle).data.shape == (4, 8)
    spread = builder.create_broadcast(tensor(4, 1).handle, kind.shape).data
    assert spread.tolist() == [[n] * 8 for n in range(4)]
