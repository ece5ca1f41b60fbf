"""`refuses(ValueError, mentions=7).f(...)`: bad arguments must be refused, and named.

Where several numbers explain the refusal, one of them will do: `mentions=(9, 12)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...worker.protocol import frames
from ..disclosure.allowed_words import Echo
from ..outcomes import Crashed, Flaw, GraderFault, Unwritten, Wrong
from .call_options import PLAIN, CallOptions
from .calls import HasHandle, owner_of
from .case import Case, ReferenceRaised


class Refuses:
    """`refuses(ValueError, mentions="7").f(...)`: the call must raise, and say the number."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def __call__(self, error: type[Exception], mentions: object = "") -> _Refusal:
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            raise GraderFault("refuses takes the class of an exception: refuses(ValueError).f(...)")
        several = mentions if isinstance(mentions, tuple) else (mentions,)
        return _Refusal(self._case, error.__name__, tuple(map(str, several)))


class _Refusal:
    def __init__(self, case: Case, error: str, mentions: tuple[str, ...]) -> None:
        self._case, self._error, self._mentions = case, error, mentions

    def of(self, remote: HasHandle, method: str = "") -> Callable[..., None]:
        """The call of an object (a Pair, or one side's), or of one of its methods."""
        handle = remote.handle_on(self._case.student)
        options = CallOptions(handle=handle.id, owner=owner_of(remote))
        return lambda *args, **kwargs: self._check(method, args, kwargs, options)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._check(name, args, kwargs, PLAIN)

    def _check(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], options: CallOptions
    ) -> None:
        named = ".".join(part for part in (options.owner, name) if part)
        shown = f"`{named}`" if named else "The model"
        side = self._case.student
        try:
            side.call(self._case, name, args, kwargs, options)
        except (Crashed, Unwritten):
            reply = side.last[0] if side.last is not None else None
            if reply is not None and reply.raised and reply.status == "raised":
                self._judge(Echo(side.source).raised(reply.raised), shown)
                return
            raise
        except ReferenceRaised as raised:  # the reference itself stands in for the student
            self._judge(raised.raised, shown)
            return
        raise Wrong(
            f"{shown} should refuse these arguments with {self._error}, but accepts them.",
            Flaw.REFUSAL,
        )

    def _judge(self, raised: frames.Raised, shown: str) -> None:
        if "NotImplementedError" in raised.bases:
            raise Unwritten(f"{shown} is not filled in yet.", raised.line)
        if self._error not in raised.bases:
            raise Wrong(
                f"{shown} should raise {self._error} here, but raises {raised.type}.", Flaw.REFUSAL
            )
        if not any(number in raised.message for number in self._mentions):
            raise Wrong(
                f"{shown} raises {self._error}, but its message does not say which value.",
                Flaw.REFUSAL,
            )
