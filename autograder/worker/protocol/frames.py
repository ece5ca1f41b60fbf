"""Frames between the trusted process and a worker: typed headers followed by raw tensor bytes.

Theory of operation. The sender is untrusted. A frame is

    magic (4 bytes) | header length (u32) | body length (u64) | header | body

On a socket, a stamp (u64) precedes each frame. Each request has a random stamp, which the reply
must repeat, so that a reply sent early or twice is not taken for the reply to the next request.
Several calls may be sent in advance, each with a separate stamp. Their replies follow in order.

The header is MessagePack, which msgspec decodes into the exact types of `messages`. The body is the
concatenation of the buffers whose lengths the header lists. The header and body lengths are checked
against limits before the data is read, and a tensor's dtype, shape and buffer are checked against
each other before memory is allocated. No data is unpickled, evaluated or imported. Invalid data
raises `BadFrame`.
"""

import struct
from collections.abc import Iterable, Iterator

import msgspec

from .messages import *  # noqa: F403  # lets callers use messages as `frames.Call`
from .messages import Call, Notice, Reply, Request, StubCall
from .value_types import *  # noqa: F403
from .value_types import MapV, SeqV, SpecialV, Value

MAGIC = b"AGK1"
PREFIX = struct.Struct("<4sIQ")
STAMP = struct.Struct("<Q")
MAX_HEADER = 1 << 20
MAX_REPLY_HEADER = 1 << 18  # a decoded header takes up to thirty times as much memory
MAX_BODY = 256 << 20
MAX_BUFFERS = 4096
MAX_RANK = 16
MAX_NOTICES = 4  # per request
MAX_DEPTH = 48
MAX_VALUES = 50_000

Answer = tuple[Reply, list[memoryview]]


class BadFrame(Exception):
    """Raised for a frame that violates the protocol."""


_encoder = msgspec.msgpack.Encoder()
_request_decoder: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_answer_decoder: msgspec.msgpack.Decoder[Reply | Notice | StubCall] = msgspec.msgpack.Decoder(
    Reply | Notice | StubCall
)


def pack(message: Request | Reply | Notice | StubCall, buffers: list[bytes]) -> bytes:
    """Encode a message and its buffers as a frame, and list the buffers' lengths in the message."""
    if buffers and not isinstance(message, Notice):
        message = msgspec.structs.replace(message, buffers=tuple(map(len, buffers)))
    header = _encoder.encode(message)
    prefix = PREFIX.pack(MAGIC, len(header), sum(map(len, buffers)))
    return b"".join((prefix, header, *buffers))


def frame_lengths(
    prefix: bytes, max_body: int = MAX_BODY, max_header: int = MAX_HEADER
) -> tuple[int, int]:
    """Read the lengths of a frame's header and body, in bytes, from its prefix.

    Raises BadFrame if the prefix is malformed or a length exceeds its limit.
    """
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


def buffers_of(message: Request | Reply | StubCall, body: bytes | memoryview) -> list[memoryview]:
    """Split a body into the message's buffers; raise BadFrame if their number or size is wrong."""
    lengths = message.buffers
    if len(lengths) > MAX_BUFFERS:
        raise BadFrame(f"the frame lists {len(lengths)} buffers, more than {MAX_BUFFERS}")
    if min(lengths, default=0) < 0 or sum(lengths) != len(body):
        raise BadFrame("the buffers do not add up to the body")
    view, offset, parts = memoryview(body), 0, []
    for length in lengths:
        parts.append(view[offset : offset + length])
        offset += length
    return parts


def unpack_reply(header: bytes, body: bytes | memoryview) -> Answer:
    """Decode a reply and split its body into buffers; raise BadFrame if it is not a valid reply."""
    reply = unpack_answer(header, body)
    if not isinstance(reply, Reply):
        raise BadFrame("expected a reply, but received a notice or a stub call")
    return reply, buffers_of(reply, body)


def unpack_answer(header: bytes, body: bytes | memoryview) -> Reply | Notice | StubCall:
    """Decode a worker's message without its buffers; raise BadFrame if the message is invalid."""
    try:
        answer = _answer_decoder.decode(header)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadFrame(f"the header is not a reply: {error}") from None
    if isinstance(answer, Notice):
        if len(body):
            raise BadFrame("a notice with a body")
        return answer
    _check_nesting(answer.values)
    return answer


def _check_nesting(values: tuple[Value, ...]) -> None:
    level, depth, count = values, 0, 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > MAX_DEPTH + 1 or count > MAX_VALUES:
            raise BadFrame(f"values are nested deeper than {MAX_DEPTH}, or more than {MAX_VALUES}")
        level = tuple(inner for v in level for inner in inner_values(v))


def inner_values(value: Value) -> tuple[Value, ...]:
    """Return the values directly inside a container or a special value, or () for other values."""
    if isinstance(value, SpecialV):
        return (value.value,)
    return value.items if isinstance(value, (SeqV, MapV)) else ()


def nested(values: Iterable[Value]) -> Iterator[Value]:
    """Yield each encoded value, followed by all values that are nested in it."""
    for value in values:
        yield value
        yield from nested(inner_values(value))


def unpack_request(header: bytes, body: bytes | memoryview) -> tuple[Request, list[memoryview]]:
    """Decode a request and split its body into buffers; raise BadFrame if it is not valid."""
    try:
        request = _request_decoder.decode(header)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise BadFrame(f"the header is not a request: {error}") from None
    return request, buffers_of(request, body)


def _split_frame(frame: bytes) -> tuple[bytes, memoryview]:
    header_length, body_length = frame_lengths(frame[: PREFIX.size])
    start = PREFIX.size + header_length
    return frame[PREFIX.size : start], memoryview(frame)[start : start + body_length]


def request_of(frame: bytes) -> tuple[Request, list[memoryview]]:
    """Decode a frame that the trusted side created; return the request and its buffers."""
    return unpack_request(*_split_frame(frame))


def frame_path(frame: bytes) -> str:
    """Return the path of the function that a request calls, or "" if the request is not a call."""
    request, _ = request_of(frame)
    return request.path if isinstance(request, Call) else ""


def split_reply(frame: bytes) -> Answer:
    """Decode a frame that this process created; return the reply and its buffers."""
    return unpack_reply(*_split_frame(frame))


def checked_size(dtype: str, shape: tuple[int, ...], item_bytes: dict[str, int]) -> int:
    """Return an array's size in bytes; raise BadFrame if the dtype, rank, shape or size is invalid.

    item_bytes: bytes per element of each allowed dtype

    Huge axes are invalid even next to an axis of length 0: NumPy multiplies the other lengths.
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
