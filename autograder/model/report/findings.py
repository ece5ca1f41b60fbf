"""The kinds of findings and their wording for students; groups of failures that read the same.

A finding is a mistake without an entry in the bank. Diagnosis names it by the symptom of a failed
test, localization by the kind of edit that fixes it. Reports store the kinds, so a kind keeps its
name; pages take the wording from here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .schema import TestReport
from .verdicts import Verdict


class FindingWording(NamedTuple):
    """The title completes "It looks as if your code ...". The hint never reveals the fix."""

    title: str
    hint: str


_SHAPES = "Write the shape of each intermediate result beside its line, with sizes that all differ."
_DTYPES = "Print the dtype after each step, for inputs of each type."
_DEVICES = "Which tensors are new here, and where were they made?"
_STATE = "Compare the names in your `state_dict()` with the docstring, one by one."

FINDINGS = {
    # Exceptions
    "sizes": FindingWording("Combines tensors whose shapes do not match.", _SHAPES),
    "axes": FindingWording(
        "Uses a dimension that does not exist.",
        "Which dimensions can come before the last two? Count dimensions from the end.",
    ),
    "places": FindingWording(
        "Indexes out of range.",
        "How long is it, and which index is used in the smallest and in the largest case?",
    ),
    "parts": FindingWording(
        "Unpacks more or fewer values than there are.",
        "Print the right side of the `=`: its shape, or the number of values.",
    ),
    "number types": FindingWording("Combines tensors of different dtypes.", _DTYPES),
    "devices": FindingWording("Combines tensors on different devices.", _DEVICES),
    "unknown names": FindingWording(
        "Uses a name that is not defined.",
        "Look the name up in the library's documentation, or find where you define it.",
    ),
    "arguments": FindingWording(
        "Calls a function with the wrong arguments.",
        "Compare the call with the definition, argument by argument.",
    ),
    "numpy": FindingWording(
        "Converts a tensor to NumPy or to a Python number.",
        "Which step needs NumPy or a Python number, and which torch function replaces it?",
    ),
    "in place": FindingWording(
        "Modifies a tensor that is still needed unchanged.",
        "What is modified, and which step needs its old values?",
    ),
    "memory": FindingWording(
        "Relies on a tensor's layout in memory.", "Try it with an argument that was transposed."
    ),
    "stopped": FindingWording(
        "Stops with an error on valid arguments.",
        "Call it yourself with the smallest arguments that the docstring allows.",
    ),
    # Parameters that fail to load
    "lacks": FindingWording("Lacks required parameters.", _STATE),
    "names of state": FindingWording("Uses different names for its parameters.", _STATE),
    "more": FindingWording(
        "Has more in its state than required.",
        "Print the keys of your `state_dict()`: which of them are not in the docstring, and why?",
    ),
    "shapes of state": FindingWording(
        "Gives its parameters the wrong shapes.",
        "Compare the shapes in your `state_dict()` with the docstring, one by one.",
    ),
    # Results
    "number type": FindingWording("Returns the wrong dtype.", _DTYPES),
    "kind": FindingWording(
        "Returns the wrong type.",
        "What does the docstring say is returned: a number, a tensor, several of them?",
    ),
    "shape": FindingWording("Returns the wrong shape.", _SHAPES),
    "device": FindingWording("Returns a result on a different device than its input.", _DEVICES),
    "touched": FindingWording(
        "Modifies something that belongs to its caller.",
        "Look for assignments to arguments, settings and the random state.",
    ),
    "detached": FindingWording(
        "Detaches its result from an input, so that the input gets no gradient.",
        "Which step makes a new tensor from plain numbers, or runs without gradients?",
    ),
    "gradient": FindingWording(
        "Returns the right values with a wrong gradient.",
        "Which step does autograd not see as a function of the inputs?",
    ),
    "accepts": FindingWording(
        "Accepts arguments that it should refuse.",
        "Which arguments does the docstring call an error? Try each of them.",
    ),
    "refuses otherwise": FindingWording(
        "Refuses invalid arguments differently than required.",
        "Which exception is required, and what must its message contain?",
    ),
    "drawn": FindingWording(
        "Draws something differently than required.",
        "Compare your figure with the docstring, sentence by sentence.",
    ),
    "digits": FindingWording(
        "Loses the last digits.",
        "Which step computes in a smaller dtype, or adds a small constant?",
    ),
    "nan": FindingWording(
        "Returns NaN instead of numbers.",
        "Which step divides by zero, or subtracts infinity from infinity?",
    ),
    "zeros": FindingWording(
        "Returns only zeros.",
        "Where is the result filled in, and does that step run? Print it before it is returned.",
    ),
    "constant": FindingWording(
        "Returns the same number everywhere.",
        "Which step makes all numbers equal? Print the result after each step.",
    ),
}

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


def finding_key(test: TestReport) -> tuple[Verdict, str]:
    """Return the verdict and the message without its numbers, shapes and dtypes.

    Feedback describes failed tests with the same key only once.
    """
    message = test.message
    for pattern, words in _HOW_MUCH:
        message = pattern.sub(words, message)
    return test.verdict, _NUMBER.sub("#", message)
