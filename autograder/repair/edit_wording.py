"""The wording of each kind of edit: a question about a line, a name for the mistake, and a hint.

The wording leads to the place and reveals no fix. If an edit of one kind makes all failed tests
pass, its title and hint name the mistake.
"""

from __future__ import annotations

from typing import NamedTuple

# Not kinds of edits: lines that were found in other ways. Stored reports contain them.
SHOWN = "shown"  # a named mistake shows here
WHATEVER = "whatever"  # edits of several kinds would fix it
MAKES = "makes"  # makes a parameter that should not exist
IGNORED = "ignored argument"
_OTHER_QUESTIONS = {
    SHOWN: "it shows here",
    MAKES: "is this required?",
    "crashed": "it stops here",
    WHATEVER: "what happens here?",
}
# Hints that other modules use too.
SHAPES = "Write the shape of each intermediate result next to its line, with sizes that all differ."
DTYPES = "Print the dtype after each step, for inputs of each type."
MADE = "Which tensors are new here, and where were they made?"
_BY_HAND = "Work out a tiny example on paper, and compare each step with the results of your code."
_FORMULA = "Put the formula next to your code, and find each of its symbols there."
_FOLLOW = "Follow one single number through this place: where should it end up, and where does it?"
_EDGES = "Try the smallest case, and then the case just at the limit."


class KindWording(NamedTuple):
    """question: shown with a line. title: the name of the mistake."""

    question: str
    title: str
    hint: str


_WORDINGS = {
    "axis": KindWording("along which axis?", "Works along the wrong axis.", SHAPES),
    "kept axis": KindWording(
        "is the axis kept or dropped?",
        "Drops an axis that is needed later, or keeps one that is not.",
        SHAPES,
    ),
    "scale": KindWording(
        "the scale",
        "Scales something differently than the formula does.",
        "How large are the numbers before and after this place, and how large should they be?",
    ),
    "factor": KindWording("how many times over?", "Has one factor too many or too few.", _BY_HAND),
    "share": KindWording(
        "do the shares add up to one?",
        "Computes shares that do not add up to one.",
        "Add them up: is the sum one in every row?",
    ),
    "size": KindWording("the size of what?", "Uses the size of the wrong thing.", SHAPES),
    "mask": KindWording(
        "is the mask inverted?",
        "Uses an inverted mask.",
        "What does True mean here? Try a mask that hides only one entry.",
    ),
    "order of axes": KindWording(
        "the order of the axes", "Puts axes into the wrong order.", _FOLLOW
    ),
    "operand order": KindWording(
        "the order of the operands", "Exchanges the two sides of an operation.", _FORMULA
    ),
    "order of values": KindWording(
        "the order of the values", "Uses two values in the wrong order.", _FOLLOW
    ),
    "order of lines": KindWording(
        "the order of the lines", "Does two things in the wrong order.", _BY_HAND
    ),
    "argument order": KindWording(
        "the order of the arguments", "Passes arguments in the wrong order.", _FOLLOW
    ),
    "argument": KindWording(
        "is everything passed on?",
        "Does not pass on all of its arguments.",
        "Which of the arguments has no influence on the result, and should have one?",
    ),
    IGNORED: KindWording(
        "is every argument read?", "Ignores an argument.", "Which of the arguments is never read?"
    ),
    "brackets": KindWording(
        "what is computed first?", "Computes the parts of a formula in the wrong order.", _FORMULA
    ),
    "comparison": KindWording("the comparison", "Uses the wrong comparison.", _EDGES),
    "condition": KindWording("when does this run?", "Tests the wrong condition.", _EDGES),
    "constant": KindWording("the number", "Has the wrong number in one place.", _FORMULA),
    "sign": KindWording("the sign", "Has the wrong sign in one place.", _FORMULA),
    "operator": KindWording(
        "the operation", "Combines two values by the wrong operation.", _FORMULA
    ),
    "operand": KindWording(
        "what is combined here?", "Combines too much or too little in one place.", _FORMULA
    ),
    "unused": KindWording(
        "a value that was computed earlier is never used",
        "Computes something and then never uses it.",
        "What did you compute it for? Look for where the formula uses it.",
    ),
    "sum over rounds": KindWording(
        "what does each iteration keep of the previous ones?",
        "Forgets the results of the previous iterations of a loop.",
        "Print the variables of the loop after each iteration.",
    ),
    "function": KindWording(
        "is this the right function?",
        "Calls a function that is similar to the right one.",
        "Read the documentation of the function, and try it on a small example.",
    ),
    "option": KindWording(
        "are these the right options?",
        "Calls a function with the wrong option.",
        "Read in its documentation about each option that you pass here.",
    ),
    "gradient": KindWording(
        "what happens to the gradient?",
        "Stops a gradient that should pass, or passes one that should stop.",
        "Which steps should a gradient pass, and which not? Look at `grad_fn` after each.",
    ),
    "overflow": KindWording(
        "can it overflow?",
        "Lets numbers overflow or underflow.",
        "Try it with entries of 1000 and of -1000, and in half precision.",
    ),
    "infinity": KindWording(
        "what if it is infinite?",
        "Computes with an infinity where that gives NaN.",
        "What happens to a row that is all -inf, step by step?",
    ),
    "empty rows": KindWording(
        "what about rows in which everything is hidden?",
        "Does not handle rows in which everything is hidden.",
        "What happens to a fully hidden row, step by step?",
    ),
    "kind of number": KindWording(
        "the type of the numbers",
        "Computes or returns a different type of number than required.",
        DTYPES,
    ),
    "device": KindWording(
        "on which device?",
        "Puts something on a different device than its input.",
        MADE,
    ),
    "bias": KindWording(
        "with a bias or without?",
        "Gives a layer a bias that is not required, or none where one is.",
        "Compare the layers with the docstring, argument by argument.",
    ),
    "in place": KindWording(
        "what is written to?",
        "Changes something in place that is still needed unchanged.",
        "Which other names refer to the tensor that is written to?",
    ),
    "overwritten": KindWording(
        "is the value still needed that is replaced here?",
        "Replaces a value that is needed again later.",
        _FOLLOW,
    ),
    "lost result": KindWording(
        "where does the result go?",
        "Computes a result and does not use it.",
        "Does the function change its argument, or does it return something new?",
    ),
    "statement": KindWording(
        "is this needed, and here?",
        "Has one line too many.",
        "What would change without it? Try it on a small example.",
    ),
    "missing step": KindWording(
        "is a step missing here?",
        "Leaves out a step.",
        "Go through the docstring: is every step there?",
    ),
    "refusal": KindWording(
        "which values are refused, and with which message?",
        "Does not refuse bad arguments as the docstring requires.",
        "Which error is required, in which case, and what must its message contain?",
    ),
    "name": KindWording(
        "is this the right one?", "Uses the wrong variable in one place.", _FORMULA
    ),
    "off by one": KindWording(
        "where does it start, where does it end?",
        "Begins or ends one place too early or too late.",
        _EDGES,
    ),
    "text": KindWording(
        "the text",
        "Writes a different text than required.",
        "Compare it character by character.",
    ),
    "colours": KindWording(
        "do colours mean the same in every picture?",
        "Lets the same colour mean different values.",
        "Would two pictures with different weights look different?",
    ),
    "index": KindWording("the whole or a part?", "Uses the wrong part of something.", SHAPES),
    "shared": KindWording(
        "what else uses this memory?",
        "Shares memory with its argument.",
        "Change one of the two afterwards: does the other change as well?",
    ),
    "given back": KindWording(
        "what happens to what is no longer needed?",
        "Drops something without returning it.",
        "Which code could use it next, and how would it find it?",
    ),
    "count": KindWording(
        "how many values are expected?",
        "Returns too many values, or too few.",
        "Which code takes the values that are returned here, and what does it expect for each?",
    ),
    "memory": KindWording(
        "is it contiguous in memory?",
        "Relies on the memory layout of a tensor.",
        "Try it with an argument that was transposed before.",
    ),
    "number of axes": KindWording(
        "how many axes can there be?",
        "Works with only one number of axes.",
        "Which axes can come before the last two? Count axes from the end.",
    ),
    "width of values": KindWording(
        "how wide are the values?",
        "Assumes that values are as wide as keys.",
        "What has the width of a key, and what that of a value? Try values that are wider.",
    ),
    "number of keys": KindWording(
        "how many keys are there?",
        "Assumes that there are as many keys as queries.",
        "What has a row for each query, and what for each key? Try more keys than queries.",
    ),
}
KINDS = tuple(_WORDINGS)


def question(kind: str) -> str:
    """Return the question about a line that an edit of this kind would fix."""
    wording = _WORDINGS.get(kind)
    return wording.question if wording else _OTHER_QUESTIONS.get(kind, kind)


def title_and_hint(kind: str) -> tuple[str, str] | None:
    """Return the name of a mistake and a hint, or None for an unknown kind."""
    wording = _WORDINGS.get(kind)
    return (wording.title, wording.hint) if wording else None
