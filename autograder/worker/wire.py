"""Frames between the trusted process and a worker: typed headers and raw tensor bytes.

Theory of operation. The sender may lie about everything. A frame is

    magic (4 bytes) | header length (u32) | body length (u64) | header | body

and on a socket a stamp (u64) goes before it: a number that the trusted side draws for each request
and that the reply must echo, so that no reply sent early or twice is taken for the next one. Calls
may be sent ahead, many at once; each has its stamp, and they are answered in order. The
header is MessagePack decoded by msgspec into the exact types below, and the body is the
concatenation of the buffers whose lengths the header lists. Both lengths are checked against
bounds before anything is read, and every tensor's dtype, shape and buffer are checked against each
other before anything is allocated for it. Nothing is unpickled, evaluated or imported. Whatever
does not fit is a `BadFrame`.
"""

from __future__ import annotations

import struct
from enum import Enum
from typing import Literal, Union

import msgspec

MAGIC = b"AGK1"
PREFIX = struct.Struct("<4sIQ")
STAMP = struct.Struct("<Q")
MAX_HEADER = 1 << 20
MAX_REPLY_HEADER = 1 << 18  # decoded, it takes thirty times as much
MAX_BODY = 256 << 20
MAX_BUFFERS = 4096
MAX_RANK = 16
MAX_NOTICES = 4  # with one reply
MAX_DEPTH = 48
MAX_VALUES = 50_000

# Bytes per element of every dtype that may cross.
TORCH_ITEM_BYTES = {
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
}
NUMPY_ITEM_BYTES = {k: v for k, v in TORCH_ITEM_BYTES.items() if k != "bfloat16"} | {
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
}


DEVICES = ("cpu", "cuda", "fake_gpu", "meta", "mps", "xpu")


class BadFrame(Exception):
    """The other side sent something that is not a valid frame."""


class _Node(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag_field="node"
):
    pass


class TensorV(_Node, frozen=True, tag="t"):
    """A torch tensor. `buffer` is None if the tensor has no data (torch's meta device)."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device: str
    buffer: int | None
    needs_gradient: bool = False


class ArrayV(_Node, frozen=True, tag="a"):
    """A numpy array, or a numpy scalar where `scalar`; strides count elements, None in C order."""

    dtype: str
    shape: tuple[int, ...]
    buffer: int
    scalar: bool
    strides: tuple[int, ...] | None = None


class SeqV(_Node, frozen=True, tag="s"):
    kind: Literal["tuple", "list"]
    items: tuple[Value, ...]


class MapV(_Node, frozen=True, tag="m"):
    keys: tuple[str | int, ...]
    items: tuple[Value, ...]


class BigIntV(_Node, frozen=True, tag="i"):
    """An integer outside 64 bits, in decimal (at most 300 digits)."""

    digits: str


class HandleV(_Node, frozen=True, tag="h"):
    """An object that stays in the worker. `state` lists a torch module's state dict."""

    id: int
    type: str
    state: dict[str, tuple[str, tuple[int, ...]]] | None


class ImageV(_Node, frozen=True, tag="im"):
    """One image of a drawing, as it is seen: rows from the top."""

    data: ArrayV
    top_row_first: bool
    vmin: float | None
    vmax: float | None


class DrawingV(_Node, frozen=True, tag="d"):
    """What a matplotlib Axes shows."""

    images: tuple[ImageV, ...]
    xlabel: str
    ylabel: str
    title: str
    xticks: tuple[str, ...]
    yticks: tuple[str, ...]
    same_axes: bool


class FigureV(_Node, frozen=True, tag="f"):
    axes: tuple[DrawingV, ...]
    suptitle: str


class SpecialV(_Node, frozen=True, tag="x"):
    """An argument that only the worker can make: a device, an Axes, a generator, a module."""

    kind: Literal[
        "device",
        "dtype",
        "axes",
        "generator",
        "once",
        "slice",
        "expression",
        "torch_mha",
        "hf_encoder",
    ]
    value: Value


class OpaqueV(_Node, frozen=True, tag="o"):
    """Something that is not plain data; only the name of its type is sent."""

    type: str


Value = Union[  # noqa: UP007  # a forward reference cannot stand in a | union
    None,
    bool,
    int,
    float,
    str,
    TensorV,
    ArrayV,
    SeqV,
    MapV,
    BigIntV,
    HandleV,
    DrawingV,
    FigureV,
    SpecialV,
    OpaqueV,
]


class PrepareConfig(msgspec.Struct, frozen=True):
    """What the template sets up before the first fork. `gpu_bytes`: 0 if there is no GPU.

    `libraries` may be imported by submissions besides the standard library. What is not
    asked for (`optimizers`, `counting`, `drawing`) can be had, and takes its time to import.
    """

    not_allowed: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    fake_gpu: bool = True
    extras: tuple[str, ...] = ()
    optimizers: bool = False
    counting: bool = True
    drawing: bool = True
    max_reply_bytes: int = 8 << 20
    gpu_bytes: int = 0


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="message_type"):
    pass


class Lent(_Message, frozen=True):
    """An exercise in whose place a right one answers, over there.

    parameters: the names of its parameters, in order; of `forward`, if it is a class of modules
    making: of such a class, those of `__init__`
    """

    name: str
    parameters: tuple[str, ...]
    making: tuple[str, ...] | None = None


class Load(_Message, frozen=True, tag="load"):
    """Write the submission's files and import its module; then these exercises are lent to it.

    `seconds` of processor time interrupt the import, so that its line can be told; 0: no limit
    """

    module: str
    names: tuple[str, ...]
    files: tuple[int, ...]
    lent: tuple[Lent, ...] = ()
    seconds: float = 0.0
    buffers: tuple[int, ...] = ()


class Call(_Message, frozen=True, tag="call"):
    """Call the attribute `path` of the module (`handle` None) or of an object that stays here.

    `brought` is the source of a module of the grader's own, to be looked in instead of the
    submission's. `exercise` is the one on whose behalf the call is made; `not_allowed` the patterns
    watched.
    `construct` casts a new torch module to `dtype`, moves it to `device` and loads `state`;
    `fitting`: also where names or biases differ, or else numbers that follow from the names.
    `cotangents` asks for the vector-Jacobian product with respect to every float input.
    `compiled` asks Triton's compiler about the kernels of a counted call.
    `order` is a seed for the order in which the programs of a Triton kernel run; `withheld`: only
    while one runs are the numbers of the arguments in memory (withheld.py).
    `printing` asks for the value and what the call prints, as a pair.
    """

    exercise: str
    handle: int | None
    path: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    device: str
    not_allowed: tuple[str, ...] = ()
    construct: bool = False
    fitting: bool = False
    dtype: str | None = None
    state: Value = None
    cotangents: tuple[Value, ...] | None = None
    count: bool = False
    compiled: bool = False
    order: int | None = None
    withheld: bool = False
    fetch: bool = False
    fresh: bool = False
    brought: str = ""
    printing: bool = False
    buffers: tuple[int, ...] = ()


class Fill(_Message, frozen=True, tag="fill"):
    """Hold this many bytes until the next test: memory is as full again as at its peak."""

    bytes: int
    buffers: tuple[int, ...] = ()


class Ahead(_Message, frozen=True, tag="ahead"):
    """So many bytes of calls follow: to be read whole, and answered one after the other."""

    bytes: int
    buffers: tuple[int, ...] = ()


Answered = Load | Call | Fill  # each with a reply
Request = Answered | Ahead


class Raised(_Message, frozen=True):
    """An exception that the student's code let out, or that stopped the import.

    file, column: where it stopped the import, as `stopped_at` gives them; of a call neither is told
    """

    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None
    file: str = ""
    column: int = 0


class Banned(_Message, frozen=True):
    call: str
    line: int | None


class Notice(_Message, frozen=True, tag="notice"):
    """Sent before the reply, so that what was seen is out before anything could take it back.

    `banned`: a call that is not allowed, or a look into the grader's own frames and functions.
    `attempt`: something else that honest work never does.
    """

    kind: Literal["banned", "attempt"]
    what: str
    line: int | None


class LentCall(_Message, frozen=True, tag="lent_call"):
    """Sent before the reply: a call of a lent exercise, answered by a `Reply`, or of its object.

    making: the arguments by place and by name that an object is made of. Without `called` it is
    only made: the answer is its layers, weights and sizes (`lent.py`). Else it is called with
    `state` for weights.
    random: the state of torch's generator, if it may be drawn from; then the answer is a pair with
    the state afterwards.
    dropped: whether an argument was left out because the lent exercise has no parameter for it.
    The rest is as in a `Call`.
    """

    helper: str
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = {}
    making: tuple[tuple[Value, ...], dict[str, Value]] | None = None
    called: bool = True
    training: bool = True
    dtype: str | None = None
    state: Value = None
    cotangents: tuple[Value, ...] | None = None
    random: Value = None
    dropped: bool = False
    buffers: tuple[int, ...] = ()

    @property
    def values(self) -> tuple[Value, ...]:
        """All that was sent with it."""
        positional, named = self.making or ((), {})
        given = (*self.args, *self.kwargs.values(), *positional, *named.values())
        return (*given, *(self.cotangents or ()), self.state, self.random)


RaceKind = Literal["read_after_write", "write_after_read", "write_after_write"]


class Race(_Message, frozen=True):
    """A kind of race between a launch's programs (`races.py`). `line`: where the first one is."""

    kind: RaceKind
    elements: int
    line: int | None = None


class LaunchCounts(_Message, frozen=True):
    """What one launch of a Triton kernel did (`kernels.py`).

    programs:  how many ran
    outside_*: elements that were asked for outside of every tensor; `line`: where first
    largest:   the most elements that one load or store asked for
    loads:     for each tensor that was read: its elements, and how many loads asked for the least
               and the most loaded of them
    races:     by kind, accesses of different programs that nothing orders
    refused:   what a GPU's compiler has against it
    """

    programs: int
    outside_loads: int
    outside_stores: int
    largest: int
    loads: tuple[tuple[int, int, int], ...]
    races: tuple[Race, ...] = ()
    line: int | None = None
    refused: Raised | None = None


class Counts(_Message, frozen=True):
    """`computed`: what computed beside Triton's kernels, where `launches` are looked at."""

    flops: int
    largest: int
    ops: int
    kept: int = 0
    launches: tuple[LaunchCounts, ...] = ()
    computed: tuple[str, ...] = ()


class StateMismatch(_Message, frozen=True):
    """Why a module's parameters do not fit the names and shapes that were asked for."""

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    shapes: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]


class Effect(Enum):
    """What a call changed and has no business changing."""

    TENSOR = "tensor"
    TENSOR_SHAPE = "tensor_shape"
    ARRAY = "array"
    MODE = "mode"
    ATTENTION = "attention"
    OUTPUT_ATTENTIONS = "output_attentions"
    TORCH_RANDOM = "torch_random"
    NUMPY_RANDOM = "numpy_random"
    PYTHON_RANDOM = "python_random"
    DEFAULT_DTYPE = "default_dtype"
    GRADIENT_MODE = "gradient_mode"
    DEFAULT_DEVICE = "default_device"
    THREADS = "threads"
    PRINTING = "printing"
    NUMPY_ERRORS = "numpy_errors"
    SHARED_MEMORY = "shared_memory"
    DRAWING_SETTINGS = "drawing_settings"
    WINDOW = "window"
    OTHER_FIGURES = "other_figures"


class SideEffect(_Message, frozen=True):
    """`argument`: its number among the call's tensors or arrays, from 1; 0 if it is none."""

    effect: Effect
    argument: int = 0


class Reply(_Message, frozen=True, tag="reply"):
    """What happened. Everything here is the student's word."""

    status: Literal["ok", "raised", "missing", "state", "too_large"]
    value: Value = None
    gradients: tuple[Value, ...] | None = None
    detached: tuple[int, ...] = ()
    raised: Raised | None = None
    mismatch: StateMismatch | None = None
    side_effects: tuple[SideEffect, ...] = ()
    banned: tuple[Banned, ...] = ()
    counts: Counts | None = None
    printed: str = ""
    buffers: tuple[int, ...] = ()


_encoder = msgspec.msgpack.Encoder()
_request_decoder: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_answer_decoder: msgspec.msgpack.Decoder[Reply | Notice | LentCall] = msgspec.msgpack.Decoder(
    Reply | Notice | LentCall
)


def pack(message: Request | Reply | Notice | LentCall, buffers: list[bytes]) -> bytes:
    """The frame for `message`; its `buffers` field is filled from `buffers`."""
    if buffers and not isinstance(message, Notice):
        message = msgspec.structs.replace(message, buffers=tuple(map(len, buffers)))
    header = _encoder.encode(message)
    prefix = PREFIX.pack(MAGIC, len(header), sum(map(len, buffers)))
    return b"".join((prefix, header, *buffers))


def frame_lengths(
    prefix: bytes, max_body: int = MAX_BODY, max_header: int = MAX_HEADER
) -> tuple[int, int]:
    """Header and body length announced by a frame's first bytes, within bounds."""
    if len(prefix) != PREFIX.size:
        raise BadFrame("the frame ends within its prefix")
    magic, header_length, body_length = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise BadFrame("the frame does not start with the protocol's mark")
    if header_length > max_header:
        raise BadFrame(f"the header claims {header_length} bytes, more than {max_header}")
    if body_length > max_body:
        raise BadFrame(f"the body claims {body_length} bytes, more than {max_body}")
    return header_length, body_length


def _split(header_buffers: tuple[int, ...], body: bytes | memoryview) -> list[memoryview]:
    if len(header_buffers) > MAX_BUFFERS:
        raise BadFrame(f"the frame lists {len(header_buffers)} buffers, more than {MAX_BUFFERS}")
    if min(header_buffers, default=0) < 0 or sum(header_buffers) != len(body):
        raise BadFrame("the buffers do not add up to the body")
    view, offset, parts = memoryview(body), 0, []
    for length in header_buffers:
        parts.append(view[offset : offset + length])
        offset += length
    return parts


def unpack_reply(header: bytes, body: bytes | memoryview) -> tuple[Reply, list[memoryview]]:
    """A worker's reply; raises BadFrame for anything that is not exactly one."""
    reply = unpack_answer(header, body)
    if not isinstance(reply, Reply):
        raise BadFrame("a notice or a question where a reply is due")
    return reply, buffers_of(reply, body)


def buffers_of(reply: Reply | LentCall, body: bytes | memoryview) -> list[memoryview]:
    """The parts of a body that are announced; raises BadFrame if they are not all of it."""
    return _split(reply.buffers, body)


def unpack_answer(header: bytes, body: bytes | memoryview) -> Reply | Notice | LentCall:
    """What a worker sent: a reply, whose buffers `body` holds, or what comes before it."""
    try:
        answer = _answer_decoder.decode(header)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadFrame(f"the header is not a reply: {error}") from None
    if isinstance(answer, Notice):
        if len(body):
            raise BadFrame("a notice with a body")
        return answer
    if isinstance(answer, LentCall):
        _check_nesting(answer.values)
        return answer
    _check_nesting((answer.value, *(answer.gradients or ())))
    return answer


def _check_nesting(values: tuple[Value, ...]) -> None:
    """Return whether values can be walked: neither deeper nor more than anybody answers."""
    level, count = [v for v in values if isinstance(v, (SeqV, MapV))], len(values)
    depth = 0
    while level:
        depth += 1
        count += sum(len(v.items) for v in level)
        if depth > MAX_DEPTH or count > MAX_VALUES:
            raise BadFrame(f"values are nested deeper than {MAX_DEPTH}, or more than {MAX_VALUES}")
        level = [i for v in level for i in v.items if isinstance(i, (SeqV, MapV))]


def unpack_request(header: bytes, body: bytes | memoryview) -> tuple[Request, list[memoryview]]:
    """A request of the trusted side (worker's direction)."""
    try:
        request = _request_decoder.decode(header)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadFrame(f"the header is not a request: {error}") from None
    return request, _split(request.buffers, body)


def checked_size(dtype: str, shape: tuple[int, ...], item_bytes: dict[str, int]) -> int:
    """Bytes that an array of this dtype and shape takes; raises BadFrame for a nonsensical one.

    Axes of length 0 do not excuse the others: libraries multiply in another order than we do.
    """
    if dtype not in item_bytes:
        raise BadFrame(f"no such dtype: {dtype[:40]!r}")
    if len(shape) > MAX_RANK:
        raise BadFrame(f"{len(shape)} axes, more than {MAX_RANK}")
    size = item_bytes[dtype]
    for extent in shape:
        if extent < 0:
            raise BadFrame(f"an axis of length {extent}")
        size *= max(extent, 1)
        if size > MAX_BODY:
            raise BadFrame(f"an array of shape {shape} is larger than {MAX_BODY} bytes")
    return 0 if 0 in shape else size
