"""Test that frames and values survive a round trip and invalid ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.worker.protocol import frames
from autograder.worker.protocol.values import TORCH_DTYPES, Decoder, Encoder


def through(thing):
    encoder = Encoder()
    value = encoder(thing)
    frame = frames.pack(frames.Reply("ok", value=value), encoder.buffers)
    header_length, _ = frames.frame_lengths(frame[: frames.PREFIX.size])
    start = frames.PREFIX.size + header_length
    reply, buffers = frames.unpack_reply(frame[frames.PREFIX.size : start], frame[start:])
    return Decoder(buffers)(reply.value)


@pytest.mark.parametrize("dtype", TORCH_DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_tensors_of_every_dtype_and_shape_come_out_as_they_went_in(dtype, shape):
    x = (torch.arange(24).reshape(2, 3, 4) - 5).to(dtype)
    x = x.flatten()[: int(np.prod(shape))].reshape(shape)
    y = through(x)
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    assert torch.equal(y, x)


@pytest.mark.parametrize("thing", [np.arange(3, dtype=">f4"), np.dtype(">i8").type(7)])
def test_an_array_in_the_other_byte_order_keeps_its_numbers(thing):
    there = through(thing)
    assert np.array_equal(there, thing)
    assert there.dtype == thing.dtype.newbyteorder("=")


@pytest.mark.parametrize(
    "x",
    [
        torch.randn(3, 4).T,
        torch.randn(5, 1).expand(5, 7),
        torch.randn(6, 8)[::2, 1::3],
        torch.randn(2, 3, 4).transpose(0, 2),
    ],
    ids=["transposed", "expanded", "sliced", "permuted"],
)
def test_strides_survive(x):
    y = through(x)
    assert y.stride() == x.stride()
    assert torch.equal(y, x)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(24).reshape(4, 6)[::2, 1::2],
        np.broadcast_to(np.arange(3.0), (4, 3)),
    ],
    ids=["transposed", "sliced", "broadcast"],
)
def test_strides_of_arrays_survive(x):
    y = through(x)
    assert y.strides == x.strides
    assert np.array_equal(x, y)


def test_an_array_that_is_a_view_of_more_than_came_is_refused():
    view = frames.ArrayV("float64", (4, 3), 0, False, (100, 1))
    with pytest.raises(frames.BadFrame):
        Decoder([memoryview(bytes(96))])(view)


def test_the_same_tensor_twice_stays_one_tensor():
    x = torch.randn(3)
    first, second = through((x, x))
    assert first is second


@pytest.mark.parametrize(
    "thing",
    [None, True, -7, 2**80, 1.5, float("inf"), "text", (1, [2.0, "x"]), {"a": (1,), 3: None}],
    ids=repr,
)
def test_plain_values_come_out_as_they_went_in(thing):
    assert through(thing) == thing


def test_numpy_arrays_and_scalars_keep_their_kind():
    array = through(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.float32
    assert isinstance(through(np.float64(2.5)), np.float64)


class Liar:
    def __eq__(self, other):
        return True

    __hash__ = None


class Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "thing",
    [
        Liar(),
        object(),
        lambda: 1,
        torch.randn(2).as_subclass(Subclass),
        torch.eye(3).to_sparse(),
        np.array([object()]),
    ],
    ids=["lying object", "object", "function", "tensor subclass", "sparse", "object array"],
)
def test_what_is_not_plain_data_becomes_its_types_name(thing):
    assert isinstance(through(thing), frames.OpaqueV)


@pytest.mark.parametrize(
    ("value", "buffers", "message"),
    [
        (frames.TensorV("float32", (3,), None, "cpu", 0), [b"1234"], "4 bytes where 12"),
        (frames.TensorV("float32", (-1,), None, "cpu", 0), [b""], "length -1"),
        (frames.TensorV("float32", (2**62, 2**62), None, "cpu", 0), [b""], "larger than"),
        (frames.TensorV("object", (1,), None, "cpu", 0), [b"12345678"], "no such dtype"),
        (frames.TensorV("float32", (1,) * 40, None, "cpu", 0), [b"1234"], "40 axes"),
        (frames.TensorV("float32", (1,), None, "cpu", 5), [b"1234"], "buffer 5 does not exist"),
        (frames.TensorV("float32", (2,), (9,), "cpu", 0), [b"1234"], "4 bytes where 40"),
        (frames.ArrayV("float64", (2,), 0, True), [b"1" * 16], "a scalar with axes"),
        (frames.MapV(("a",), ()), [], "different numbers of keys and items"),
        (frames.BigIntV("1e9"), [], "characters that are not digits"),
    ],
)
def test_values_that_do_not_fit_their_buffers_are_refused(value, buffers, message):
    with pytest.raises(frames.BadFrame, match=message):
        Decoder([memoryview(b) for b in buffers])(value)


@pytest.mark.parametrize(
    "prefix",
    [
        b"",
        b"XXXX" + bytes(12),
        frames.PREFIX.pack(frames.MAGIC, frames.MAX_HEADER + 1, 0),
        frames.PREFIX.pack(frames.MAGIC, 10, frames.MAX_BODY + 1),
    ],
    ids=["empty", "no mark", "header too long", "body too long"],
)
def test_a_frame_is_refused_by_its_first_bytes(prefix):
    with pytest.raises(frames.BadFrame):
        frames.frame_lengths(prefix)


def test_buffers_must_add_up_to_the_body():
    frame = frames.pack(frames.Reply("ok"), [b"abc"])
    header_length, _ = frames.frame_lengths(frame[: frames.PREFIX.size])
    header = frame[frames.PREFIX.size : frames.PREFIX.size + header_length]
    with pytest.raises(frames.BadFrame, match="do not add up"):
        frames.unpack_reply(header, b"ab")


def nested(depth):
    value = None
    for _ in range(depth):
        value = frames.SeqV("list", (value,))
    return value


def test_a_reply_that_is_too_deep_to_walk_is_no_reply():
    frame = frames.pack(frames.Reply("ok", value=nested(frames.MAX_DEPTH + 1)), [])
    with pytest.raises(frames.BadFrame, match="nested"):
        frames.unpack_reply(frame[frames.PREFIX.size :], b"")


def test_a_reply_of_too_many_values_is_no_reply():
    many = frames.SeqV("list", (None,) * (frames.MAX_VALUES + 1))
    frame = frames.pack(frames.Reply("ok", gradients=(many,)), [])
    with pytest.raises(frames.BadFrame, match="more than"):
        frames.unpack_reply(frame[frames.PREFIX.size :], b"")
