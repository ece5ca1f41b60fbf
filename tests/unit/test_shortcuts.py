"""Shortcuts through Triton's interpreter answer as it does, and leave it what they do not know."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

tl = pytest.importorskip("triton.language", reason="triton is not installed: pip install triton")

from autograder.worker import kernels, shortcuts  # noqa: E402  # after the question for triton

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
