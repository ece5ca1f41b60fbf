"""Kinds of changes in words that lead to the place and give no repair away.

As a question beside a line; and, where one change of that kind mends all that fails, as the name of
the mistake: what it looks like, and a hint.
"""

from __future__ import annotations

SHOWN = "shown"  # no kind of change: a line at which a named mistake shows
WHATEVER = "whatever"  # changes of several kinds would do
IGNORED = "ignored argument"
MAKES = "makes"  # nor this: a line that makes what tests find there
_SEEN = {
    SHOWN: "it shows here",
    MAKES: "is this asked for?",
    "crashed": "it stops here",
    WHATEVER: "what is done here?",
}
_QUESTIONS = {
    "axis": "along which axis?",
    "kept axis": "is the axis kept or dropped?",
    "scale": "the scale",
    "factor": "how many times over?",
    "share": "do the shares add up to one?",
    "size": "the size of what?",
    "mask": "which way round is the mask?",
    "order of axes": "the order of the axes",
    "operand order": "the order of the operands",
    "order of values": "the order of the values",
    "order of lines": "the order of the lines",
    "argument order": "the order of the arguments",
    "argument": "is everything passed on?",
    IGNORED: "is every argument read?",
    "brackets": "what is worked out first?",
    "comparison": "the comparison",
    "condition": "when is this done?",
    "constant": "the number",
    "sign": "the sign",
    "operator": "the operation",
    "operand": "what is combined here?",
    "unused": "something that was made before is never used",
    "sum over rounds": "what does each round keep of the ones before?",
    "function": "is this the right function?",
    "option": "is this what the function is asked for?",
    "gradient": "what happens to the gradient?",
    "overflow": "can it overflow?",
    "infinity": "what if it is infinite?",
    "empty rows": "what about rows in which nothing is visible?",
    "kind of number": "the type of the numbers",
    "device": "on which device?",
    "bias": "with a bias or without?",
    "in place": "what is written to?",
    "overwritten": "is the value still needed that is replaced here?",
    "lost result": "where does the result go?",
    "statement": "is this needed, and here?",
    "missing step": "is a step missing here?",
    "refusal": "what is refused, and with which words?",
    "name": "is this the right one?",
    "off by one": "where does it start, where does it end?",
    "text": "the text",
    "colours": "do colours mean the same in every picture?",
    "index": "the whole or a part?",
    "memory": "how does it lie in memory?",
    "shared": "who else holds this memory?",
    "given back": "what becomes of what is no longer needed?",
    "count": "how many values are expected?",
    "number of axes": "how many axes can there be?",
    "width of values": "how wide are the values?",
    "number of keys": "how many keys are there?",
}


def question(kind: str) -> str:
    """What to ask about a line at which a change of this kind would do."""
    return _SEEN.get(kind) or _QUESTIONS.get(kind, kind)


# Hints that are given elsewhere too.
SHAPES = "Write the shape of each intermediate result beside its line, with sizes that all differ."
DTYPES = "Print the dtype after each step, for inputs of each type."
MADE = "Which tensors are new here, and where were they made?"
_BY_HAND = "Work out a tiny example on paper, and compare it step by step with what your code gets."
_FORMULA = "Put the formula beside your code, and find each of its symbols there."
_FOLLOW = "Follow one single number through this place: where should it end up, and where does it?"
_EDGES = "Try the smallest case, and then the case just at the limit."
_NAMED = {
    "axis": ("Works along the wrong axis.", SHAPES),
    "kept axis": ("Drops an axis that is needed later, or keeps one that is not.", SHAPES),
    "scale": (
        "Scales something in another way than the formula does.",
        "How large are the numbers before and after this place, and how large should they be?",
    ),
    "factor": ("Has one factor too many or too few.", _BY_HAND),
    "share": ("Makes shares that do not add up to one.", "Add them up: is it one in every row?"),
    "size": ("Uses the size of the wrong thing.", SHAPES),
    "mask": (
        "Uses a mask the other way round.",
        "What does True mean here? Try a mask that hides one entry alone.",
    ),
    "order of axes": ("Puts axes into the wrong order.", _FOLLOW),
    "operand order": ("Exchanges the two sides of an operation.", _FORMULA),
    "order of values": ("Uses two values in the wrong order.", _FOLLOW),
    "order of lines": ("Does two things in the wrong order.", _BY_HAND),
    "argument order": ("Passes arguments in the wrong order.", _FOLLOW),
    "argument": (
        "Does not pass on everything that it was given.",
        "Which of the arguments has no influence on the result, and should have one?",
    ),
    IGNORED: ("Ignores something that it is given.", "Which of the arguments is never read?"),
    "brackets": ("Computes the parts of a formula in the wrong order.", _FORMULA),
    "comparison": ("Uses the wrong comparison.", _EDGES),
    "condition": ("Tests the wrong condition.", _EDGES),
    "constant": ("Has the wrong number in one place.", _FORMULA),
    "sign": ("Has the wrong sign in one place.", _FORMULA),
    "operator": ("Combines two values by the wrong operation.", _FORMULA),
    "operand": ("Combines too much or too little in one place.", _FORMULA),
    "unused": (
        "Makes something and then never uses it.",
        "What did you make it for? Look for where the formula uses it.",
    ),
    "sum over rounds": (
        "Forgets in each pass of a loop what the passes before have found.",
        "Print what the loop carries from one pass to the next.",
    ),
    "function": (
        "Calls a function that is similar to the right one.",
        "Read what the function does in its documentation, with a small example beside it.",
    ),
    "option": (
        "Calls a function with the wrong option.",
        "Read in its documentation what each option does that you pass here.",
    ),
    "gradient": (
        "Stops a gradient that should pass, or passes one that should stop.",
        "Which steps should a gradient pass, and which not? Look at `grad_fn` after each.",
    ),
    "overflow": (
        "Lets numbers grow or shrink beyond what their type holds.",
        "Try it with entries of 1000 and of -1000, and in half precision.",
    ),
    "infinity": (
        "Computes with an infinity where that gives NaN.",
        "What becomes of a row that holds only -inf, step by step?",
    ),
    "empty rows": (
        "Does not handle rows in which nothing is visible.",
        "What becomes of a row that is hidden as a whole, step by step?",
    ),
    "kind of number": (
        "Computes or answers in another type of number than is asked.",
        DTYPES,
    ),
    "device": (
        "Puts something on another device than the one its input is on.",
        MADE,
    ),
    "bias": (
        "Gives a layer a bias that is not asked for, or none where one is.",
        "Compare the layers with the docstring, argument by argument.",
    ),
    "in place": (
        "Changes something in place that is still needed unchanged.",
        "Who else may hold the tensor that is written to?",
    ),
    "overwritten": ("Replaces a value that is needed again later.", _FOLLOW),
    "lost result": (
        "Computes a result and does not use it.",
        "Does the function change what it is given, or does it return something new?",
    ),
    "statement": (
        "Has one line too many.",
        "What would change without it? Try it on a small example.",
    ),
    "missing step": ("Leaves out a step.", "Go through the docstring: is every step there?"),
    "refusal": (
        "Does not refuse bad arguments as the docstring says.",
        "Which error is asked for, in which case, and what must its message contain?",
    ),
    "name": ("Uses the wrong variable in one place.", _FORMULA),
    "off by one": ("Begins or ends one place too early or too late.", _EDGES),
    "text": ("Writes another text than the one asked for.", "Compare it character by character."),
    "colours": (
        "Lets the same colour mean different values.",
        "Would two pictures with other weights look different?",
    ),
    "index": ("Uses the wrong part of something.", SHAPES),
    "shared": (
        "Shares memory with what it was given.",
        "Change one of the two afterwards: does the other change as well?",
    ),
    "given back": (
        "Forgets something without giving it back.",
        "Who could use it next, and how would they find it?",
    ),
    "count": (
        "Gives back too many values, or too few.",
        "Who takes what is returned here, and what does it expect for each argument?",
    ),
    "number of axes": (
        "Works with one number of axes alone.",
        "Which axes can stand before the last two? Count axes from the end.",
    ),
    "width of values": (
        "Counts on values that are as wide as the keys.",
        "What has the width of a key, and what that of a value? Try values that are wider.",
    ),
    "number of keys": (
        "Counts on as many keys as there are queries.",
        "What has a row for each query, and what for each key? Try more keys than queries.",
    ),
    "memory": (
        "Relies on how a tensor lies in memory.",
        "Try it with an argument that was transposed before.",
    ),
}


def named(kind: str) -> tuple[str, str] | None:
    """What a mistake of this kind looks like, and a hint; None if the kind says too little."""
    return _NAMED.get(kind)
