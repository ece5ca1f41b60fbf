"""Importing a submission's module before anything is asked of it.

A module that cannot be imported is not tested, so nothing of a hidden test is in its process. Later
failures of an import (in a process that was started again after a test) are verdicts of tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..model.extras import is_missing
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
    """Import the module; return why that fails, with the line and a caret, or "" if it does not.

    A library of one of the extras that is not installed here is not the submission's problem.
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
    """The outcome of an import that ended its process, as the end of a sentence."""
    if isinstance(outcome, Crashed):
        signal = re.search(r"\bSIG[A-Z]+", outcome.message)
        return ended(signal[0] if signal else "")
    if isinstance(outcome, LimitExceeded):
        return "it uses more processor time, memory or disk than a submission may"
    if isinstance(outcome, TimedOut):
        return STUCK
    return "its process was disturbed, and gave no valid reply"
