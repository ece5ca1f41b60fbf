"""A process of the student's that lends its helpers: what it is asked, and how long it may take."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..model.verdicts import Verdict
from ..worker import wire
from ..worker.values import Encoder
from .asked import HelperQuestions, Question
from .options import CallOptions
from .outcomes import LimitExceeded, Outcome, TimedOut
from .sandboxed import Sandboxed
from .targets import Answer, Target, addressed
from .transcript import Transcript

# On a machine so busy a helper still has its time.
_BUSIEST = 10.0


class Unanswered(Exception):
    """The lent helper gave nothing that can stand in its place."""


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
class LentObject:
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
        self._had_run = 0.0
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

    @property
    def _is_elsewhere(self) -> bool:
        return isinstance(self._target, Sandboxed)

    def ask(
        self, path: str, args: Any, kwargs: Any, options: CallOptions, made: LentObject | None
    ) -> Answer:
        """What the process answers to a call, of the object that is made so, if there is one."""
        frame = self.frame(path, args, kwargs, options)
        question = (*made.frames, frame) if made else (frame,)
        answer = self._questions.known(question) if self._questions else None
        if answer is None:
            answer = self._answer(question, made)
            # a test that asks for too much is not inherited, and the others need not know of it
            if self._questions and (answer is not None or self._ended != Verdict.LIMIT):
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
        made = LentObject(question[:-1]) if question[1:] else None
        return None if self._patience.over else self._answer(question, made)

    def _answer(self, question: Question, made: LentObject | None) -> Answer | None:
        """What the process answers; None: nothing at all, and `_ended` says how."""
        if made is not None and made.handle is None and not self._make(made):
            return None
        return self._request(question[-1], made.handle if made else None)

    def _make(self, made: LentObject) -> bool:
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

    def frame(self, path: str, args: Any, kwargs: Any, options: CallOptions) -> bytes:
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
        started = time.monotonic()
        ran = self._had_run if self._is_elsewhere else self._ran()  # between requests it waits
        try:
            with nullcontext() if self._is_elsewhere else _as_if_elsewhere():
                return self._target.request(frame)
        except Outcome as outcome:
            if isinstance(outcome, TimedOut):
                self._patience.seconds = 0.0
            if isinstance(outcome, LimitExceeded):
                self._patience.seconds /= 2
            self._ended = outcome.verdict
            return None
        finally:
            passed = (time.monotonic() - started) / _BUSIEST
            self._had_run = self._ran()
            self._patience.seconds -= max(passed, self._had_run - ran)


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


def _special(thing: object, _: Encoder) -> wire.Value | None:
    if isinstance(thing, torch.device):
        return wire.SpecialV("device", str(thing))
    if isinstance(thing, torch.dtype):
        return wire.SpecialV("dtype", str(thing).removeprefix("torch."))
    return None


def _refuse(thing: object) -> wire.Value | None:
    raise Unanswered(f"a {type(thing).__name__} cannot be lent")
