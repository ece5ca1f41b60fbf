"""Import a submission's module before any hidden test runs.

A module that cannot be imported is not tested, so its process never receives a request of a hidden
test. If an import fails later, in a process that was restarted after a test, that is the verdict of
the next test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..model.availability import is_missing
from ..model.source.import_failure import STUCK, ImportFailure, ended, explained
from .outcomes import BadReply, Crashed, LimitExceeded, Outcome, TimedOut
from .targets.in_process import InProcess
from .targets.sandboxed import Sandboxed


def import_problem(
    target: Sandboxed | InProcess,
    module: str,
    files: Mapping[str, bytes],
    extras: Iterable[str | None] = (),
) -> str:
    """Import the module; return its error with the line and a caret, or "" if it succeeds.

    A missing library of an extra that is not installed here is not the submission's problem.
    """
    try:
        raised = target.load()
    except (TimedOut, Crashed, LimitExceeded, BadReply) as outcome:
        failure = ImportFailure("", _clause(outcome))
    else:
        if raised is None or is_missing(extras, raised.type, raised.message):
            return ""
        failure = ImportFailure(
            raised.type, raised.message, raised.file, raised.line or 0, raised.column
        )
    texts = {name: content.decode("utf-8-sig", "replace") for name, content in files.items()}
    return explained(module, failure, texts)


def _clause(outcome: Outcome) -> str:
    """Describe how an import ended its process, as the end of a sentence."""
    if isinstance(outcome, Crashed):
        signal = re.search(r"\bSIG[A-Z]+", outcome.message)
        return ended(signal[0] if signal else "")
    if isinstance(outcome, LimitExceeded):
        return "it uses more processor time, memory or disk than a submission may"
    if isinstance(outcome, TimedOut):
        return STUCK
    return "its process sent an invalid reply"
