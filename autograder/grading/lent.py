"""A student's function in the place of the solution's: a call that crosses the wire.

Theory of operation. To tell what is right *given* a student's helper, the solution's exercise runs
in this process and each call of the helper goes to the student's process and back, as plain data.
Nothing of the solution goes there but the helper's arguments, which an exercise of that name must
expect anyway. Gradients cross too: the backward pass of a lent call asks for the pulled-back
gradients of the same call. A torch module is lent in the same way: its weights rest here, in an
object of the solution's class, and travel with each call.

The student's side may lie. What it answers is used as the helper's result and for nothing else,
and whatever is no result (an exception, an object, too much of it) is `Unanswered`: the solution
cannot go on, and nothing is inherited from such a call. The solution's work grows with what it is
answered, by the square in places; so an answer that holds far more than the solution's own helper
gives for the same arguments, or than these themselves, is too much (`size.py`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ..worker import wire
from ..worker.values import TORCH_NAMES, Decoder, Encoder
from .asked import HelperQuestions, Question
from .options import CallOptions
from .outcomes import LimitExceeded, Outcome, TimedOut
from .size import size_of
from .targets import Answer, InProcess, Sandboxed, Target, addressed
from .transcript import Transcript

_BYTES = 64 << 20
# On a machine so busy a helper still has its time.
_BUSIEST = 10.0
# As many times as large as the solution's own an answer may be: an honest mistake can give it an
# axis too many, which makes it as many times larger as there are sequences in a batch.
_TIMES = 16


class Unanswered(Exception):
    """The lent helper gave nothing that can stand in its place."""


Change = Callable[[Any], None]
_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def unchanged(module: Any) -> None:
    """Leave a module as it is."""


@dataclass
class Patience:
    """The seconds that a submission's helpers may still take when they are lent, all together.

    Only their answers are waited for on this clock. It counts processor time, so that what is
    inherited does not depend on how busy the machine is, and a part of the time that passes, so
    that a helper that sleeps comes to an end too. What this process itself makes of the answers is
    measured likewise (`work`).
    """

    seconds: float
    work: float

    @property
    def over(self) -> bool:
        return self.seconds <= 0 or self.work <= 0

    @contextmanager
    def working(self) -> Iterator[None]:
        """While this thread works on what was answered."""
        started = time.thread_time()
        try:
            yield
        finally:
            self.work -= time.thread_time() - started


@dataclass
class _Made:
    """A student's object: how it is made, and its number where it has been.

    frames: the request that makes it, and the one that sets its mode
    """

    frames: tuple[bytes, ...]
    handle: int | None = None


class Lender:
    """The student's module in a process of its own; one test after another calls its helpers.

    questions: where they are noted; what is known there already is not asked
    """

    def __init__(
        self, target: Target, patience: Patience, questions: HelperQuestions | None = None
    ) -> None:
        self._target, self._patience = target, patience
        self._questions = questions
        self._exercise, self._fresh, self._ended = "", True, ""
        self.transcript = Transcript()

    def begin(self, test: str, exercise: str) -> None:
        self._target.begin(test, exercise)
        self._exercise, self._fresh = exercise, True
        self.transcript.begin(test)

    def close(self) -> None:
        self._target.close()

    def _ran(self) -> float:
        """Processor seconds of the student's process, or of this one where that is the same."""
        target = self._target
        return target.ran_seconds() if isinstance(target, Sandboxed) else time.thread_time()

    def function(self, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        """What the solution calls instead of its `own` function of that name."""

        def lent(*args: Any, **kwargs: Any) -> Any:
            return self._call(name, None, args, kwargs, [], own)

        return lent

    def module(self, name: str, own: type[nn.Module]) -> type[nn.Module]:
        """A class like the solution's `own` whose `forward` is the student's."""
        lender = self

        class Lent(own):  # type: ignore[misc, valid-type]  # made from what it replaces
            _recipe: _Arguments

            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                object.__setattr__(self, "_recipe", (args, kwargs))

            def forward(self, *args: Any, **kwargs: Any) -> Any:
                return lender.forward(name, self, self._recipe, args, kwargs, super().forward)

        Lent.__name__ = Lent.__qualname__ = own.__name__
        Lent.__module__ = own.__module__
        return Lent

    def forward(
        self,
        name: str,
        module: nn.Module,
        recipe: _Arguments,
        args: Any,
        kwargs: Any,
        own: Callable[..., Any],
    ) -> Any:
        """Make the student's object with this one's weights, then call it."""
        made_with, named = recipe
        weights = [p for _, p in sorted(module.named_parameters()) if p.is_floating_point()]
        dtype = TORCH_NAMES[weights[0].dtype] if weights else None
        options = CallOptions(construct=True, dtype=dtype, state=module.state_dict())
        frames = (
            self._frame(name, made_with, named, options),
            self._frame("train", (module.training,), {}, CallOptions()),
        )
        return self._call("", _Made(frames), args, kwargs, list[torch.Tensor](weights), own)

    def _call(
        self,
        path: str,
        made: _Made | None,
        args: Any,
        kwargs: Any,
        parameters: list[torch.Tensor],
        own: Callable[..., Any],
    ) -> Any:
        inputs = [*_floats(args, kwargs), *parameters]
        wanted = torch.is_grad_enabled() and any(x.requires_grad for x in inputs)
        # Cotangents for no result are asked for first: the reply says what carries a gradient.
        options = CallOptions(cotangents=() if wanted else None)
        reply, buffers = self._ask(path, args, kwargs, options, made)
        value = _decoded(reply.value, buffers)
        if _is_far_more(value, own, args, kwargs):
            raise Unanswered("far more than the solution's own helper says")
        outputs = _floats((value,), {})
        if not wanted or not outputs or len(reply.detached) == len(outputs):
            return value

        def pull(cotangents: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
            reply, buffers = self._ask(path, args, kwargs, options.pulling(cotangents), made)
            if reply.gradients is None or len(reply.gradients) != len(inputs):
                raise Unanswered("the gradients do not fit")
            return [
                _gradient(_decoded(g, buffers), x)
                for g, x in zip(reply.gradients, inputs, strict=True)
            ]

        results = _PulledBack.apply(pull, reply.detached, outputs, *inputs)  # type: ignore[no-untyped-call]  # torch's
        return _with(value, dict(zip(map(id, outputs), results, strict=True)))

    def _ask(
        self, path: str, args: Any, kwargs: Any, options: CallOptions, made: _Made | None
    ) -> Answer:
        frame = self._frame(path, args, kwargs, options)
        question = (*made.frames, frame) if made else (frame,)
        answer = self._questions.known(question) if self._questions else None
        if answer is None:
            answer = self._answer(question, made)
            if self._questions:
                self._questions.note(question, answer)
        for part in question:
            self.transcript.asked(part)
        if answer is None:
            self.transcript.ended(self._ended)
            raise Unanswered(f"{path or 'the module'} gave no answer: {self._ended}")
        self.transcript.answered(answer)
        if answer[0].status != "ok":
            raise Unanswered(f"{path or 'the module'} answered {answer[0].status}")
        return answer

    def again(self, question: Question) -> Answer | None:
        """Ask what was asked elsewhere; None if there is no answer, or no time for it."""
        made = _Made(question[:-1]) if question[1:] else None
        return None if self._patience.over else self._answer(question, made)

    def _answer(self, question: Question, made: _Made | None) -> Answer | None:
        """What the process answers; None: nothing at all, and `_ended` says how."""
        if made is not None and made.handle is None and not self._make(made):
            return None
        return self._request(question[-1], made.handle if made else None)

    def _make(self, made: _Made) -> bool:
        making, mode = made.frames
        answer = self._request(making, None)
        if answer is None:
            return False
        value = answer[0].value
        if answer[0].status != "ok" or not isinstance(value, wire.HandleV) or value.state is None:
            self._ended = "no module was made"
            return False
        made.handle = value.id
        answer = self._request(mode, made.handle)
        if answer is not None and answer[0].status != "ok":
            self._ended = "its mode cannot be set"
        return answer is not None and answer[0].status == "ok"

    def _frame(self, path: str, args: Any, kwargs: Any, options: CallOptions) -> bytes:
        """A request as it is asked anywhere: without the number of an object."""
        encoder = Encoder(special=_special, keep=_refuse)
        state, cotangents = options.state, options.cotangents
        message = wire.Call(
            exercise=self._exercise,
            handle=None,
            path=path,
            args=tuple(encoder(a) for a in args),
            kwargs={k: encoder(v) for k, v in kwargs.items()},
            device="cpu",
            construct=options.construct,
            dtype=options.dtype,
            state=None if state is None else encoder(dict(state)),
            cotangents=None if cotangents is None else tuple(encoder(c) for c in cotangents),
        )
        return wire.pack(message, encoder.buffers)

    def _request(self, frame: bytes, handle: int | None) -> Answer | None:
        """Ask this process; None if it gave no answer, and `_ended` says how."""
        frame = addressed(frame, handle, self._fresh)
        self._fresh = False
        started, ran = time.monotonic(), self._ran()
        try:
            with _as_if_elsewhere():
                return self._target.request(frame)
        except Outcome as outcome:
            if isinstance(outcome, (TimedOut, LimitExceeded)):
                self._patience.seconds = 0.0
            self._ended = outcome.verdict
            return None
        finally:
            passed = (time.monotonic() - started) / _BUSIEST
            self._patience.seconds -= max(passed, self._ran() - ran)


@contextmanager
def _as_if_elsewhere() -> Iterator[None]:
    """Let a call in this process begin and end as in a process of its own.

    Whatever is going on here, it runs with gradients, and what it does to the random state is not
    the caller's doing.
    """
    numbers = random.getstate(), np.random.get_state()
    try:
        with torch.enable_grad(), torch.random.fork_rng(devices=()):
            yield
    finally:
        random.setstate(numbers[0])
        np.random.set_state(numbers[1])


class Changed(InProcess):
    """A program of ours that is changed once it was imported."""

    def __init__(self, path: Path, change: Change) -> None:
        super().__init__(path)
        self._change = change

    def _loaded(self, module: Any) -> None:
        self._change(module)


class Composed(Changed):
    """A program of ours whose named exercises are lent by the student, and then changed."""

    def __init__(
        self, path: Path, lent: Sequence[str], lender: Lender, change: Change = unchanged
    ) -> None:
        super().__init__(path, change)
        self._lent, self._lender = lent, lender

    def begin(self, test: str, exercise: str) -> None:
        self._lender.begin(test, exercise)

    def _loaded(self, module: Any) -> None:
        for name in self._lent:
            own = getattr(module, name, None)
            if isinstance(own, type) and issubclass(own, nn.Module):
                setattr(module, name, self._lender.module(name, own))
            elif own is not None:
                setattr(module, name, self._lender.function(name, own))
        super()._loaded(module)

    def close(self) -> None:
        super().close()
        self._lender.close()


class _PulledBack(torch.autograd.Function):
    """Results that came from elsewhere, whose gradients are asked for there."""

    @staticmethod
    def forward(
        ctx: Any,
        pull: Callable[[Sequence[torch.Tensor]], list[torch.Tensor | None]],
        detached: tuple[int, ...],
        outputs: list[torch.Tensor],
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        ctx.pull = pull
        results = tuple(y.clone() for y in outputs)
        ctx.mark_non_differentiable(*(results[i] for i in detached if i < len(results)))
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return (None, None, None, *ctx.pull(cotangents))


def _is_far_more(value: Any, own: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Whether an answer is larger than the arguments and the solution's own answer can explain."""
    size = size_of(value)
    if size <= _TIMES * max(map(size_of, [None, *args, *kwargs.values()])):
        return False
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=()):
            return size > _TIMES * size_of(own(*args, **kwargs))
    except Exception:  # the solution's own may not know what to do with another helper's answer
        return True


def _floats(args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The float tensors of a call in the order in which the worker meets them, each once."""
    found: dict[int, torch.Tensor] = {}
    for x in _tensors([*args, *kwargs.values()]):
        if x.is_floating_point():
            found.setdefault(id(x), x)
    return list(found.values())


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in _tensors(v)] if isinstance(value, (tuple, list)) else []


def _decoded(value: wire.Value, buffers: list[memoryview]) -> Any:
    budget = _BYTES + 2 * sum(map(len, buffers))
    try:
        return Decoder(buffers, special=_refused, without_data=False, budget=budget)(value)
    except wire.BadFrame as error:
        raise Unanswered(str(error)) from None


def _gradient(gradient: Any, x: torch.Tensor) -> torch.Tensor | None:
    if gradient is None:
        return None
    if not isinstance(gradient, torch.Tensor) or gradient.shape != x.shape:
        raise Unanswered("a gradient of another shape")
    return gradient.to(x.dtype)


def _with(value: Any, results: dict[int, torch.Tensor]) -> Any:
    """The value with its tensors exchanged, by identity."""
    if isinstance(value, torch.Tensor):
        return results.get(id(value), value)
    if isinstance(value, (tuple, list)):
        return type(value)(_with(v, results) for v in value)
    if isinstance(value, dict):
        return {k: _with(v, results) for k, v in value.items()}
    return value


def _special(thing: object, _: Encoder) -> wire.Value | None:
    if isinstance(thing, torch.device):
        return wire.SpecialV("device", str(thing))
    if isinstance(thing, torch.dtype):
        return wire.SpecialV("dtype", str(thing).removeprefix("torch."))
    return None


def _refuse(thing: object) -> wire.Value | None:
    raise Unanswered(f"a {type(thing).__name__} cannot be lent")


def _refused(value: wire.Value, _: Any) -> Any:
    raise Unanswered(f"a {type(value).__name__} is no plain data")
