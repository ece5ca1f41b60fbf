"""The kinds of findings and their wording for students.

A finding is a mistake without an entry in the bank. Diagnosis names it by a symptom that a failed
test shows (`shows:KIND`), localization by the kind of edit that fixes it (`line:KIND`). Reports
store these names, so they do not change; pages take the wording from here. No wording reveals the
fix.
"""

from __future__ import annotations

from typing import NamedTuple


class FindingWording(NamedTuple):
    """The wording of one kind of finding.

    title: completes "It looks as if your code ..."
    question: beside a line that an edit of this kind would fix
    """

    title: str
    hint: str
    question: str = ""


# Kinds of lines that were not found by an edit. Stored reports contain them.
SHOWN = "shown"  # a named mistake shows here
WHATEVER = "whatever"  # edits of several kinds would fix it
MAKES = "makes"  # creates a parameter that should not exist
IGNORED = "ignored argument"
_OTHER_QUESTIONS = {
    SHOWN: "it shows here",
    MAKES: "is this required?",
    "crashed": "it stops here",
    WHATEVER: "what happens here?",
}

_SHAPES = (
    "Write the shape of each intermediate result next to its line, with sizes that all differ."
)
_DTYPES = "Print the dtype after each step, for inputs of each type."
_DEVICES = "Which tensors are new here, and where were they made?"
_BY_HAND = "Work out a tiny example on paper, and compare each step with the results of your code."
_FORMULA = "Put the formula next to your code, and find each of its symbols there."
_FOLLOW = "Follow one single number through this place: where should it end up, and where does it?"
_EDGES = "Try the smallest case, and then the case just at the limit."
_STATE = "Compare the names and shapes in your `state_dict()` with the docstring, one by one."

_EDITS = {
    "axis": FindingWording("Works along the wrong axis.", _SHAPES, "along which axis?"),
    "kept axis": FindingWording(
        "Drops an axis that is needed later, or keeps one that is not.",
        _SHAPES,
        "is the axis kept or dropped?",
    ),
    "scale": FindingWording(
        "Scales something differently than the formula does.",
        "How large are the numbers before and after this place, and how large should they be?",
        "the scale",
    ),
    "factor": FindingWording(
        "Has one factor too many or too few.", _BY_HAND, "how many times over?"
    ),
    "share": FindingWording(
        "Computes shares that do not add up to one.",
        "Add them up: is the sum one in every row?",
        "do the shares add up to one?",
    ),
    "size": FindingWording("Uses the size of the wrong thing.", _SHAPES, "the size of what?"),
    "mask": FindingWording(
        "Uses an inverted mask.",
        "What does True mean here? Try a mask that hides only one entry.",
        "is the mask inverted?",
    ),
    "order of axes": FindingWording(
        "Puts axes into the wrong order.", _FOLLOW, "the order of the axes"
    ),
    "operand order": FindingWording(
        "Exchanges the two sides of an operation.", _FORMULA, "the order of the operands"
    ),
    "order of values": FindingWording(
        "Uses two values in the wrong order.", _FOLLOW, "the order of the values"
    ),
    "order of lines": FindingWording(
        "Does two things in the wrong order.", _BY_HAND, "the order of the lines"
    ),
    "argument order": FindingWording(
        "Passes arguments in the wrong order.", _FOLLOW, "the order of the arguments"
    ),
    "argument": FindingWording(
        "Does not pass on all of its arguments.",
        "Which of the arguments has no influence on the result, and should have one?",
        "is everything passed on?",
    ),
    "ignored argument": FindingWording(
        "Ignores an argument.", "Which of the arguments is never read?", "is every argument read?"
    ),
    "brackets": FindingWording(
        "Computes the parts of a formula in the wrong order.", _FORMULA, "what is computed first?"
    ),
    "comparison": FindingWording("Uses the wrong comparison.", _EDGES, "the comparison"),
    "condition": FindingWording("Tests the wrong condition.", _EDGES, "when does this run?"),
    "constant": FindingWording("Has the wrong number in one place.", _FORMULA, "the number"),
    "sign": FindingWording("Has the wrong sign in one place.", _FORMULA, "the sign"),
    "operator": FindingWording(
        "Combines two values by the wrong operation.", _FORMULA, "the operation"
    ),
    "operand": FindingWording(
        "Combines too much or too little in one place.", _FORMULA, "what is combined here?"
    ),
    "unused": FindingWording(
        "Computes something and then never uses it.",
        "What did you compute it for? Look for where the formula uses it.",
        "a value that was computed earlier is never used",
    ),
    "sum over rounds": FindingWording(
        "Forgets the results of the previous iterations of a loop.",
        "Print the variables of the loop after each iteration.",
        "what does each iteration keep of the previous ones?",
    ),
    "function": FindingWording(
        "Calls a function that is similar to the right one.",
        "Read the documentation of the function, and try it on a small example.",
        "is this the right function?",
    ),
    "option": FindingWording(
        "Calls a function with the wrong option.",
        "Read in its documentation about each option that you pass here.",
        "are these the right options?",
    ),
    "gradient": FindingWording(
        "Stops a gradient that should pass, or passes one that should stop.",
        "Which steps should a gradient pass, and which not? Look at `grad_fn` after each.",
        "what happens to the gradient?",
    ),
    "overflow": FindingWording(
        "Lets numbers overflow or underflow.",
        "Try it with entries of 1000 and of -1000, and in half precision.",
        "can it overflow?",
    ),
    "infinity": FindingWording(
        "Computes with an infinity where that gives NaN.",
        "What happens to a row that is all -inf, step by step?",
        "what if it is infinite?",
    ),
    "empty rows": FindingWording(
        "Does not handle rows in which everything is hidden.",
        "What happens to a fully hidden row, step by step?",
        "what about rows in which everything is hidden?",
    ),
    "kind of number": FindingWording(
        "Computes or returns a different type of number than required.",
        _DTYPES,
        "the type of the numbers",
    ),
    "device": FindingWording(
        "Puts something on a different device than its input.", _DEVICES, "on which device?"
    ),
    "bias": FindingWording(
        "Gives a layer a bias that is not required, or none where one is.",
        "Compare the layers with the docstring, argument by argument.",
        "with a bias or without?",
    ),
    "in place": FindingWording(
        "Changes something in place that is still needed unchanged.",
        "Which other names refer to the tensor that is written to?",
        "what is written to?",
    ),
    "overwritten": FindingWording(
        "Replaces a value that is needed again later.",
        _FOLLOW,
        "is the value still needed that is replaced here?",
    ),
    "lost result": FindingWording(
        "Computes a result and does not use it.",
        "Does the function change its argument, or does it return something new?",
        "where does the result go?",
    ),
    "statement": FindingWording(
        "Has one line too many.",
        "What would change without it? Try it on a small example.",
        "is this needed, and here?",
    ),
    "missing step": FindingWording(
        "Leaves out a step.",
        "Go through the docstring: is every step there?",
        "is a step missing here?",
    ),
    "refusal": FindingWording(
        "Does not refuse bad arguments as the docstring requires.",
        "Which error is required, in which case, and what must its message contain?",
        "which values are refused, and with which message?",
    ),
    "name": FindingWording(
        "Uses the wrong variable in one place.", _FORMULA, "is this the right one?"
    ),
    "off by one": FindingWording(
        "Begins or ends one place too early or too late.",
        _EDGES,
        "where does it start, where does it end?",
    ),
    "text": FindingWording(
        "Writes a different text than required.", "Compare it character by character.", "the text"
    ),
    "colours": FindingWording(
        "Lets the same colour mean different values.",
        "Would two pictures with different weights look different?",
        "do colours mean the same in every picture?",
    ),
    "index": FindingWording("Uses the wrong part of something.", _SHAPES, "the whole or a part?"),
    "shared": FindingWording(
        "Shares memory with its argument.",
        "Change one of the two afterwards: does the other change as well?",
        "what else uses this memory?",
    ),
    "given back": FindingWording(
        "Drops something without returning it.",
        "Which code could use it next, and how would it find it?",
        "what happens to what is no longer needed?",
    ),
    "count": FindingWording(
        "Returns too many values, or too few.",
        "Which code takes the values that are returned here, and what does it expect for each?",
        "how many values are expected?",
    ),
    "memory": FindingWording(
        "Relies on the memory layout of a tensor.",
        "Try it with an argument that was transposed before.",
        "is it contiguous in memory?",
    ),
    "number of axes": FindingWording(
        "Works with only one number of axes.",
        "Which axes can come before the last two? Count axes from the end.",
        "how many axes can there be?",
    ),
    "width of values": FindingWording(
        "Assumes that values are as wide as keys.",
        "What has the width of a key, and what that of a value? Try values that are wider.",
        "how wide are the values?",
    ),
    "number of keys": FindingWording(
        "Assumes that there are as many keys as queries.",
        "What has a row for each query, and what for each key? Try more keys than queries.",
        "how many keys are there?",
    ),
}
_SYMPTOMS = {
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
    "in place": _EDITS["in place"],
    "memory": _EDITS["memory"],
    "stopped": FindingWording(
        "Stops with an error on valid arguments.",
        "Call it yourself with the smallest arguments that the docstring allows.",
    ),
    "lacks": FindingWording("Lacks required parameters.", _STATE),
    "names of state": FindingWording("Uses different names for its parameters.", _STATE),
    "more": FindingWording(
        "Has more in its state than required.",
        "Print the keys of your `state_dict()`: which of them are not in the docstring, and why?",
    ),
    "shapes of state": FindingWording("Gives its parameters the wrong shapes.", _STATE),
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
    "refuses otherwise": _EDITS["refusal"],
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
FINDINGS = {f"shows:{kind}": wording for kind, wording in _SYMPTOMS.items()}
FINDINGS |= {f"line:{kind}": wording for kind, wording in _EDITS.items()}


def symptom_name(kind: str) -> str:
    """Return the name of a symptom in reports. The colon keeps it apart from misconceptions."""
    return f"shows:{kind}"


def edit_name(kind: str) -> str:
    """Return the name of a mistake in reports that an edit of this kind fixes."""
    return f"line:{kind}"


def question(kind: str) -> str:
    """Return the question about a line that an edit of this kind would fix."""
    wording = FINDINGS.get(edit_name(kind))
    return wording.question if wording else _OTHER_QUESTIONS.get(kind, kind)
