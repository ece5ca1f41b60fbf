"""Group failed tests by their message, so that feedback describes each group once."""

from __future__ import annotations

import re

from .schema import TestReport
from .verdicts import Verdict

NOT_DESCRIBED = "Not described here: fix what is described first."
_NUMBER = re.compile(r"(?<![\w`])[-+]?\d[\d.,e+-]*\b|\[[-\d, ]*\]")
_ENTRIES = (
    r"(?:every entry|[^.]*? entries)(?:, most at index \[[-\d, ]*\])?"
    r"(?:, in [^.]*? rows(?: \(whole rows\))?)?"
)
_HOW_MUCH = (
    (re.compile(rf" differs in {_ENTRIES}\."), " differs."),
    (re.compile(rf" is NaN in {_ENTRIES}\."), " is NaN."),
    (re.compile(r" have shape \([\d, ]*\), but has \([\d, ]*\)"), " have another shape"),
    (re.compile(r" have dtype \w+, but has \w+"), " have another dtype"),
)


def failure_key(test: TestReport) -> tuple[Verdict, str]:
    """Return the verdict and the message without its numbers, shapes and dtypes."""
    message = test.message
    for pattern, words in _HOW_MUCH:
        message = pattern.sub(words, message)
    return test.verdict, _NUMBER.sub("#", message)
