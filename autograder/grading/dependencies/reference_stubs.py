"""Answer a submission's calls to replaced helpers with the solution, on the trusted side.

If a student's `softmax` is wrong, the student's attention function is graded with a correct
`softmax` instead. The solution stays in this process. The submission's process gets stubs
(worker/remote_stub.py) that send their arguments here and receive the answer. Only calls to the
replaced helpers are answered.

A submission may send anything. A call is therefore decoded within the same limits as a reply, and
may contain only plain data of bounded size. An answer is subject to the engine's memory limit, and
to a deadline that `_Deadline` checks at every torch operation. Neither a single call nor all calls
together can keep this process busy.

The cost of an answer is charged to the caller: the answer's operations, FLOPs and tensors are added
to the counts of the submission's call. Otherwise, callers of a wrong helper would look too cheap.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from msgspec.structs import replace
from torch import nn

from ...worker.monitor import operator_hooks
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, split_reply
from ...worker.protocol.values import Decoder, Encoder
from ...worker.remote_stub import LAYERS, install_stubs, plain_attributes
from ...worker.torch_support.operator_facts import DispatchMode
from ..outcomes import clear_frames
from ..targets.in_process import InProcess
from .call_bounds import MAX_BYTES, MAX_ELEMENTS, is_bounded

_REFUSED = frames.Reply("raised", raised=frames.Raised("RuntimeError", ("Exception",), "", None))
# Exceptions whose messages may contain the names of variables in the solution.
_NAMING_ERRORS = ("AttributeError", "KeyError", "NameError", "UnboundLocalError")


@dataclass
class TimeBudget:
    """Remaining processor seconds for a submission's helpers. `call`: the limit for one call."""

    seconds: float
    call: float = 5.0


@dataclass
class AnswerCounts:
    """The numbers of answered and refused calls to helpers.

    raised:  answered calls in which the solution raised an exception
    dropped: answered calls without an argument that only the student's helper accepts
    """

    answers: int = 0
    refusals: int = 0
    raised: int = 0
    dropped: int = 0


class ReferenceHelpers:
    """Answers calls to some exercises with correct versions, until the time budget is used up.

    stubs: descriptions of the functions and torch modules that can be replaced
    names: the names of these exercises
    """

    def __init__(self, solution: Solution, names: Iterable[str], left: TimeBudget) -> None:
        self._solution = solution
        found = ((n, getattr(solution.module, n, None)) for n in names)
        self.stubs = tuple(s for name, own in found if (s := _stub(name, own)) is not None)
        self.names = tuple(stub.name for stub in self.stubs)
        self._left = left
        self._answer_counts = AnswerCounts()
        self._costs: frames.Counts | None = None
        self._forward_costs: dict[bytes, frames.Counts] = {}  # by hash of the call

    def take_counts(self) -> AnswerCounts:
        """Return and reset the counts."""
        counts, self._answer_counts = self._answer_counts, AnswerCounts()
        return counts

    def with_costs(self, answer: Answer) -> Answer:
        """Return an answer whose counts include the helper calls made since the last answer."""
        more, self._costs = self._costs, None
        reply, buffers = answer
        if more is None or reply.counts is None:
            return answer
        return replace(reply, counts=_sum(reply.counts, more)), buffers

    def answer(self, call: frames.StubCall, buffers: list[memoryview]) -> bytes:
        """Return the reply frame for a call. A refused call is answered with an exception."""
        started, counts = time.thread_time(), self._answer_counts
        try:
            if self._left.seconds > 0 and call.helper in self.names and is_bounded(call):
                seconds = min(self._left.seconds, self._left.call)
                reply, parts = self._solution.reply(call, buffers, seconds)
                answer = frames.pack(replace(reply, counts=None), parts)
                if len(answer) <= MAX_BYTES:
                    self._add_cost(call, reply.counts)
                    counts.answers += 1
                    counts.raised += reply.status == "raised"
                    counts.dropped += call.dropped
                    return answer
        except Exception as error:  # a submission may trigger any bug here
            clear_frames(error)
        finally:
            self._solution.executor.objects.clear()
            self._left.seconds -= time.thread_time() - started
        counts.refusals += 1
        return frames.pack(_REFUSED, [])

    def _add_cost(self, call: frames.StubCall, cost: frames.Counts | None) -> None:
        """Add the cost of an answer. A forward pass that is repeated for gradients counts once."""
        if cost is None:
            return
        key = hashlib.blake2b(msgspec.json.encode(replace(call, cotangents=None))).digest()
        if call.cotangents:
            before = self._forward_costs.get(key, frames.Counts(0, 0, 0))
            flops, ops = cost.flops - before.flops, cost.ops - before.ops
            cost = replace(cost, flops=max(0, flops), ops=max(0, ops), kept=0)
        else:
            self._forward_costs[key] = cost
        self._costs = _sum(self._costs, cost) if self._costs is not None else cost


def _sum(first: frames.Counts, second: frames.Counts) -> frames.Counts:
    return replace(
        first,
        flops=first.flops + second.flops,
        largest=max(first.largest, second.largest),
        ops=first.ops + second.ops,
        kept=first.kept + second.kept,
    )


class _TooExpensive(Exception):
    """Raised if an answer needs more work than a helper may do."""


class _Deadline(DispatchMode):
    """Stops an answer that takes longer, or computes a larger tensor, than any exercise needs.

    The size of a single operation is already bounded, because its inputs are either arguments of
    bounded size or earlier results.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.thread_time() + seconds
        self.exceeded = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.exceeded or time.thread_time() > self._end:
            self.exceeded = True
            raise _TooExpensive
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and made.numel() > MAX_ELEMENTS:
            self.exceeded = True
            raise _TooExpensive
        return made


class Solution(InProcess):
    """The solution in this process, which answers calls to its exercises."""

    @property
    def module(self) -> Any:
        return self.executor.module

    def reply(
        self, call: frames.StubCall, buffers: list[memoryview], seconds: float
    ) -> tuple[frames.Reply, list[bytes]]:
        """Return a reply that includes its costs, and the buffers of the reply.

        If the call contains a generator's state, the value is a pair of the result and the new
        state. Raise _TooExpensive if the answer takes more than `seconds` of processor time.
        """
        with _Deadline(seconds) as deadline:
            answer = self._reply(call, buffers)
        if deadline.exceeded:  # the executor reports _TooExpensive like any exception of a helper
            raise _TooExpensive
        return answer

    def _reply(
        self, call: frames.StubCall, buffers: list[memoryview]
    ) -> tuple[frames.Reply, list[bytes]]:
        plain = frames.Call("", None, call.helper, call.args, call.kwargs, "cpu")
        counted = replace(plain, cotangents=call.cotangents, count=True)
        # Build a graph only for gradients, because its tensors count as saved for backward.
        with_graph = call.cotangents is not None
        with torch.set_grad_enabled(with_graph), torch.random.fork_rng(devices=()):
            request = counted if call.making is None else _construction(plain, call)
            if call.making is not None and call.called:
                reply, parts = self._executed(request, buffers)
                if reply.status != "ok":
                    return reply, parts
                module = self.executor.objects[0]
                # keep the dtype that each weight has in the submission
                module.load_state_dict(Decoder(buffers)(call.state), assign=True)
                module.train(call.training)
                request = replace(counted, handle=0, path="")
            if call.random is not None:
                torch.random.set_rng_state(Decoder(buffers)(call.random))
            reply, parts = self._executed(request, buffers)
            if request.construct and reply.status == "ok":
                module, encoder = self.executor.objects[0], Encoder()
                described = encoder((_layers(module), _weights(module), plain_attributes(module)))
                reply, parts = frames.Reply("ok", value=described), encoder.buffers
            state = torch.random.get_rng_state()
        if call.random is not None and reply.status == "ok":
            encoder = Encoder(buffers=parts)
            pair = frames.SeqV("tuple", (reply.value, encoder(state)))
            reply, parts = replace(reply, value=pair), encoder.buffers
        return reply, parts

    def _executed(
        self, request: frames.Call, buffers: list[memoryview]
    ) -> tuple[frames.Reply, list[bytes]]:
        with warnings.catch_warnings(action="ignore"):
            reply, parts = split_reply(self.executor.answer(request, buffers))
        if reply.raised is not None:
            message = "" if reply.raised.type in _NAMING_ERRORS else reply.raised.message
            raised = replace(reply.raised, message=message, line=None)
            reply = replace(reply, raised=raised)
        return reply, [bytes(p) for p in parts]


class InProcessWithHelpers(InProcess):
    """A submission in this process, with some of its exercises replaced by correct versions."""

    def __init__(self, path: Path, helpers: ReferenceHelpers) -> None:
        super().__init__(path)
        self._helpers = helpers

    def _loaded(self, module: Any) -> None:
        def request(call: frames.StubCall, buffers: list[bytes]) -> Answer:
            parts = [memoryview(b) for b in buffers]
            return split_reply(in_separate_thread(lambda: self._helpers.answer(call, parts)))

        install_stubs(module, self._helpers.stubs, request)

    def request(self, frame: bytes) -> Answer:
        return self._helpers.with_costs(super().request(frame))


def in_separate_thread(work: Callable[[], bytes]) -> bytes:
    """Run `work` without this thread's torch modes; return a refusal frame if `work` raises."""
    done: list[bytes] = []
    thread = threading.Thread(target=lambda: done.append(work()))
    with operator_hooks.restored_watcher():
        thread.start()
        thread.join()
    return done[0] if done else frames.pack(_REFUSED, [])


def _stub(name: str, definition: Any) -> frames.Stub | None:
    """Describe a function or a torch module; return None for any other object."""
    if not isinstance(definition, type):
        called = callable(definition)
        return frames.Stub(name, _parameters(definition)) if called else None
    if not issubclass(definition, nn.Module):
        return None
    return frames.Stub(name, _parameters(definition.forward)[1:], _parameters(definition.__init__))


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _construction(plain: frames.Call, call: frames.StubCall) -> frames.Call:
    """Return the request that constructs the object of a call and loads its weights."""
    args, kwargs = call.making or ((), {})
    made = replace(plain, args=args, kwargs=kwargs, construct=True)
    return replace(made, dtype=call.dtype, state=call.state)


def _layers(module: nn.Module) -> tuple[tuple[str, tuple[str, tuple[int, ...]]], ...]:
    """Return the name, type and weight shape of each layer that a stub of the module needs."""
    return tuple(
        (name, (type(part).__name__, tuple(part.weight.shape)))
        for name, part in module.named_modules()
        if type(part) in LAYERS
    )


def _weights(module: nn.Module) -> tuple[tuple[str, torch.Tensor, bool], ...]:
    """Return each tensor of a state dict: its name, its value, and whether it is a parameter."""
    trained = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    return tuple((name, x, name in trained) for name, x in module.state_dict().items())
