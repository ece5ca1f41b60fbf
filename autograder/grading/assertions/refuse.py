"""Check that bad arguments raise the right exception and that its message names the bad value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...worker.protocol import frames
from ..disclosure.allowed_words import AllowedWords
from ..disclosure.leak_budget import UNKNOWN, MessageBudget
from ..outcomes import Crashed, Flaw, GraderFault, Unwritten, Wrong
from .calls import HasRemoteObject, NamedCalls
from .case import PLAIN, CallOptions, Case, ReferenceRaised


class Refuses:
    """`refuses(ValueError, mentions=7).f(...)`: the call must raise an error that mentions 7.

    If any of several numbers explains the error, give a tuple: `mentions=(9, 12)`.
    """

    def __init__(self, case: Case) -> None:
        self._case = case

    def __call__(self, error: type[Exception], mentions: object = "") -> _Refusal:
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            raise GraderFault("refuses takes the class of an exception: refuses(ValueError).f(...)")
        alternatives = mentions if isinstance(mentions, tuple) else (mentions,)
        return _Refusal(self._case, error.__name__, tuple(map(str, alternatives)))


class _Refusal(NamedCalls):
    def __init__(self, case: Case, error: str, mentions: tuple[str, ...]) -> None:
        self._case, self._error, self._mentions = case, error, mentions

    def of(self, remote: HasRemoteObject, method: str = "") -> Callable[..., None]:
        """Return the call of an object, or of one of its methods."""
        return partial(self._check, method, remote.object_on(self._case.student).options)

    def call(self, path: str, *args: Any, **kwargs: Any) -> None:
        self._check(path, PLAIN, *args, **kwargs)

    def _check(self, path: str, options: CallOptions, /, *args: Any, **kwargs: Any) -> None:
        name = options.qualified(path)
        subject = f"`{name}`" if name else "The model"
        side = self._case.student
        try:
            side.call(self._case, path, args, kwargs, options)
        except (Crashed, Unwritten):
            reply = side.last[0] if side.last is not None else None
            if reply is None or reply.raised is None or reply.status != "raised":
                raise
            self._check_error(reply.raised, subject)
        except ReferenceRaised as error:  # the reference is graded in place of a submission
            self._check_error(error.raised, subject)
        else:
            raise Wrong(
                f"{subject} should raise {self._error} for these arguments, but accepts them.",
                Flaw.REFUSAL,
            )

    def _check_error(self, raised: frames.Raised, subject: str) -> None:
        words, budget = AllowedWords(self._case.student.source), MessageBudget()
        if "NotImplementedError" in raised.bases:
            line = words.line(raised.line, budget)
            raise Unwritten(f"{subject} is not filled in yet.", line)
        if self._error not in raised.bases:
            error = words.error(raised, budget)
            has = "an exception" if error == UNKNOWN else error
            raise Wrong(
                f"{subject} should raise {self._error} here, but raises {has}.", Flaw.REFUSAL
            )
        if not any(number in raised.message for number in self._mentions):
            raise Wrong(
                f"{subject} raises {self._error}, but its message does not name the wrong value.",
                Flaw.REFUSAL,
            )
