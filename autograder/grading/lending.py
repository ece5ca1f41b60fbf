"""Right exercises lent to a submission: its calls of them are answered here, by the solution's.

Theory of operation. Where a student's `softmax` is wrong, their attention fails its tests however
well it is written. To see how it is written, it is tried with a right `softmax`, as a teacher would
do who marks it by hand. The solution stays here: what enters the student's process is what a right
exercise answers to that process's own questions (worker/lent.py), and no question is answered but
of the exercises that are lent.

The questions are a submission's, and may be anything. They are decoded under the same bounds as
its replies, hold plain data only, and no number that could ask for much. An answer has the engine's
ceiling of memory, and a deadline that is checked at every operation of torch (`_Deadline`), so that
neither one question nor all of them keep this process busy.

What an answer took counts as the caller's: its operations, FLOPs and tensors are added to the
counts of the call in which it was asked for. Otherwise a wrong helper would make its callers cheap.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from ..worker import watch, wire
from ..worker.lent import LAYERS, lend, plain_attributes
from ..worker.values import Decoder, Encoder
from .faults import let_go
from .targets import Answer, InProcess, split_reply

# Bounds of a question: on an integer, on bytes there and back, on elements times the longest axis,
# which is what a product of matrices costs, and on the elements of all arguments' broadcast.
_LARGEST = 1 << 16
_MOST_BYTES = 16 << 20
_MOST_WORK = 1 << 31
_MOST_ELEMENTS = 1 << 24  # also of one tensor that an answer makes on its way
_REFUSED = wire.Reply("raised", raised=wire.Raised("RuntimeError", ("Exception",), "", None))
# Exceptions whose message may name what only the solution has.
_WITHOUT_WORDS = ("AttributeError", "KeyError", "NameError", "UnboundLocalError")
_LAYERS = tuple(kind for kind, _ in LAYERS.values())


@dataclass
class TimeLeft:
    """Processor seconds left for the questions of a submission; `call`: at most for one of them."""

    seconds: float
    call: float = 5.0


@dataclass
class Answered:
    """How many questions were answered (an exception is an answer too) and how many refused.

    raised: those that were answered by an exception
    dropped: those whose answer leaves out an argument that only the student's own helper has
    """

    answers: int = 0
    refusals: int = 0
    raised: int = 0
    dropped: int = 0


class RightHelpers:
    """Answers for some exercises of the solution, as long as there is time.

    lent: those that there are right ones of, functions and classes of torch modules
    """

    def __init__(self, right: Right, names: Iterable[str], left: TimeLeft) -> None:
        self._right = right
        found = ((n, getattr(right.module, n, None)) for n in names)
        self.lent = tuple(one for name, own in found if (one := _as_lent(name, own)) is not None)
        self._left = left
        self._answered = Answered()
        self._counts: wire.Counts | None = None
        self._forward: dict[bytes, wire.Counts] = {}  # by question, what its answer took

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.lent)

    def take_answered(self) -> Answered:
        """Return what was answered since this was last called."""
        answered, self._answered = self._answered, Answered()
        return answered

    def counted_in(self, answer: Answer) -> Answer:
        """Return the caller's answer with what the helpers' answers took added to its counts."""
        more, self._counts = self._counts, None
        reply, buffers = answer
        if more is None or reply.counts is None:
            return answer
        return msgspec.structs.replace(reply, counts=_sum(reply.counts, more)), buffers

    def answer(self, question: wire.LentCall, buffers: list[memoryview]) -> bytes:
        """Return the frame of a reply to what a submission asked."""
        started = time.thread_time()
        try:
            if self._left.seconds > 0 and question.helper in self.names and _is_plain(question):
                seconds = min(self._left.seconds, self._left.call)
                reply, parts = self._right.answered(question, buffers, seconds)
                answer = wire.pack(msgspec.structs.replace(reply, counts=None), parts)
                if len(answer) <= _MOST_BYTES:
                    self._count(question, reply.counts)
                    self._answered.answers += 1
                    self._answered.raised += reply.status == "raised"
                    self._answered.dropped += question.dropped
                    return answer
        except Exception as error:  # whatever a submission provoked in us
            let_go(error)
        finally:
            self._right.executor.objects.clear()
            self._left.seconds -= time.thread_time() - started
        self._answered.refusals += 1
        return wire.pack(_REFUSED, [])

    def _count(self, question: wire.LentCall, counts: wire.Counts | None) -> None:
        """Add what an answer took; to pull gradients back, its forward pass is run again, which
        counts once."""
        if counts is None:
            return
        asked = hashlib.blake2b(
            msgspec.json.encode(msgspec.structs.replace(question, cotangents=None))
        ).digest()
        if question.cotangents:
            before = self._forward.get(asked, wire.Counts(0, 0, 0))
            flops, ops = counts.flops - before.flops, counts.ops - before.ops
            counts = msgspec.structs.replace(counts, flops=max(0, flops), ops=max(0, ops), kept=0)
        else:
            self._forward[asked] = counts
        self._counts = _sum(self._counts, counts) if self._counts is not None else counts


def _sum(one: wire.Counts, other: wire.Counts) -> wire.Counts:
    return msgspec.structs.replace(
        one,
        flops=one.flops + other.flops,
        largest=max(one.largest, other.largest),
        ops=one.ops + other.ops,
        kept=one.kept + other.kept,
    )


class _TooMuch(Exception):
    """A question asks for more work than a helper does."""


class _Deadline(TorchDispatchMode):
    """Stops an answer that takes longer, or makes a larger tensor, than any exercise needs.

    A single operation is bounded beforehand: by the bounds of a question and by the size of what
    the operations before it made.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self._end = time.thread_time() + seconds
        self.exceeded = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here; to skip the compiler, torch would import it first."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.exceeded or time.thread_time() > self._end:
            self.exceeded = True
            raise _TooMuch
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and made.numel() > _MOST_ELEMENTS:
            self.exceeded = True
            raise _TooMuch
        return made


class Right(InProcess):
    """The solution, asked for one exercise at a time."""

    @property
    def module(self) -> Any:
        return self.executor.module

    def answered(
        self, question: wire.LentCall, buffers: list[memoryview], seconds: float
    ) -> tuple[wire.Reply, list[bytes]]:
        """Return a reply with what it took, and its buffers.

        The reply holds a pair with the generator's state, if the question came with one. Raises
        _TooMuch if the answer takes more processor time than `seconds`.
        """
        with _Deadline(seconds) as deadline:
            answer = self._replied(question, buffers)
        if deadline.exceeded:  # the executor describes what is raised as the helper's own error
            raise _TooMuch
        return answer

    def _replied(
        self, question: wire.LentCall, buffers: list[memoryview]
    ) -> tuple[wire.Reply, list[bytes]]:
        call = wire.Call("", None, question.helper, question.args, question.kwargs, "cpu")
        pulled = msgspec.structs.replace(call, cotangents=question.cotangents, count=True)
        # without a graph where the caller makes none, or it would count as kept
        wanted = question.cotangents is not None
        with torch.set_grad_enabled(wanted), torch.random.fork_rng(devices=()):
            if question.making is None:
                reply, parts = self._drawing(pulled, question, buffers)
            elif not question.called:
                reply, parts = self._drawing(_making(call, question), question, buffers)
                if reply.status == "ok":
                    module, encoder = self.executor.objects[0], Encoder()
                    described = encoder(
                        (_layers(module), _weights(module), plain_attributes(module))
                    )
                    reply, parts = wire.Reply("ok", value=described), encoder.buffers
            else:
                reply, parts = self._asked(_making(call, question), buffers)
                if reply.status == "ok":
                    module = self.executor.objects[0]
                    # each weight in the dtype that it has where it rests
                    module.load_state_dict(Decoder(buffers)(question.state), assign=True)
                    module.train(question.training)
                    pulled = msgspec.structs.replace(pulled, handle=0, path="")
                    reply, parts = self._drawing(pulled, question, buffers)
            state = torch.random.get_rng_state()
        if question.random is not None and reply.status == "ok":
            encoder = Encoder(buffers=parts)
            pair = wire.SeqV("tuple", (reply.value, encoder(state)))
            reply, parts = msgspec.structs.replace(reply, value=pair), encoder.buffers
        return reply, parts

    def _drawing(
        self, call: wire.Call, question: wire.LentCall, buffers: list[memoryview]
    ) -> tuple[wire.Reply, list[bytes]]:
        """The same call where torch's generator is as it was where it was asked."""
        if question.random is not None:
            torch.random.set_rng_state(Decoder(buffers)(question.random))
        return self._asked(call, buffers)

    def _asked(self, call: wire.Call, buffers: list[memoryview]) -> tuple[wire.Reply, list[bytes]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reply, parts = split_reply(self.executor.answer(call, buffers))
        if reply.raised is not None:
            words = "" if reply.raised.type in _WITHOUT_WORDS else reply.raised.message
            raised = msgspec.structs.replace(reply.raised, message=words, line=None)
            reply = msgspec.structs.replace(reply, raised=raised)
        return reply, [bytes(p) for p in parts]


class Lending(InProcess):
    """A submission run in this process, with right exercises in the place of some of its own."""

    def __init__(self, path: Path, helpers: RightHelpers) -> None:
        super().__init__(path)
        self._helpers = helpers

    def _loaded(self, module: Any) -> None:
        def asks(question: wire.LentCall, buffers: list[bytes]) -> Answer:
            parts = [memoryview(b) for b in buffers]
            return split_reply(aside(lambda: self._helpers.answer(question, parts)))

        lend(module, self._helpers.lent, asks)

    def request(self, frame: bytes) -> Answer:
        return self._helpers.counted_in(super().request(frame))


def aside(work: Callable[[], bytes]) -> bytes:
    """Do something as in a process of its own, whatever torch's modes are on in this thread."""
    done: list[bytes] = []

    before = watch.watching()
    thread = threading.Thread(target=lambda: done.append(work()))
    thread.start()
    thread.join()
    watch.watch_again(before)
    return done[0] if done else wire.pack(_REFUSED, [])


def _as_lent(name: str, own: Any) -> wire.Lent | None:
    if isinstance(own, type):
        if not issubclass(own, nn.Module):
            return None
        _, *forward = inspect.signature(own.forward).parameters
        return wire.Lent(name, tuple(forward), tuple(inspect.signature(own.__init__).parameters))
    return wire.Lent(name, tuple(inspect.signature(own).parameters)) if callable(own) else None


def _making(call: wire.Call, question: wire.LentCall) -> wire.Call:
    """The call that makes the object of a question, with its weights."""
    args, kwargs = question.making or ((), {})
    made = msgspec.structs.replace(call, args=args, kwargs=kwargs, construct=True)
    return msgspec.structs.replace(made, dtype=question.dtype, state=question.state)


def _layers(module: nn.Module) -> tuple[tuple[str, tuple[str, tuple[int, ...]]], ...]:
    """The parts of a module that say all of themselves by their weights: kind and shape."""
    return tuple(
        (name, (type(part).__name__, tuple(part.weight.shape)))
        for name, part in module.named_modules()
        if type(part) in _LAYERS
    )


def _weights(module: nn.Module) -> tuple[tuple[str, torch.Tensor, bool], ...]:
    """What a module's state holds: name, value, whether it is trained."""
    trained = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    return tuple((name, x, name in trained) for name, x in module.state_dict().items())


def _is_plain(question: wire.LentCall) -> bool:
    """Whether a question holds plain data only, and none that could ask for much."""
    all_values, arguments = _Demand(), _Demand()
    if not all(map(all_values.holds, question.values)):
        return False
    for value in (*question.args, *question.kwargs.values()):  # weights do not broadcast with them
        arguments.holds(value)
    all_values.broadcast = arguments.broadcast
    return all_values.is_little


@dataclass
class _Demand:
    """What the values of a question come to."""

    bytes: int = 0
    elements: int = 0
    longest: int = 1
    broadcast: tuple[int, ...] = ()  # the longest of each axis, counted from the last

    @property
    def is_little(self) -> bool:
        little = self.bytes <= _MOST_BYTES and math.prod(self.broadcast) <= _MOST_ELEMENTS
        return little and self.elements * self.longest <= _MOST_WORK

    def holds(self, value: wire.Value) -> bool:
        """Count a value; False if it is no plain data."""
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, int):
            return abs(value) <= _LARGEST
        if isinstance(value, (float, str)):
            self.bytes += 8 if isinstance(value, float) else len(value)
            return True
        if isinstance(value, wire.TensorV):
            return value.buffer is not None and self._has(value, wire.TORCH_ITEM_BYTES)
        if isinstance(value, wire.ArrayV):
            return self._has(value, wire.NUMPY_ITEM_BYTES)
        if isinstance(value, (wire.SeqV, wire.MapV)):
            return all(map(self.holds, value.items))
        if isinstance(value, wire.SpecialV):
            return value.kind in ("device", "dtype") and self.holds(value.value)
        return False

    def _has(self, value: wire.TensorV | wire.ArrayV, item_bytes: dict[str, int]) -> bool:
        size = wire.checked_size(value.dtype, value.shape, item_bytes)
        self.bytes += size
        self.elements += size // item_bytes[value.dtype]
        self.longest = max(self.longest, *value.shape, 1)
        axes = zip_longest(self.broadcast, reversed(value.shape), fillvalue=1)
        self.broadcast = tuple(map(max, axes))
        return True
