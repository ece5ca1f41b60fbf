"""Compare how a submission and a misconception failed a hidden test.

If a test stopped at wrong values, the test did not compare gradients and side effects, so this
module ignores gradients and side effects as well. `comparator.same_value` compares values.
"""

import math
import re
from itertools import zip_longest

from ...worker.protocol import frames
from ...worker.protocol.frames import Answer
from ...worker.protocol.values import read_answer
from ..comparator import distance, largest_entry, same_value
from ..outcomes import Answers, Flaw, Outcome
from ..running.pytest_plugin import Ran

_CLOSE = 0.01  # largest relative difference of Python numbers from programs with the same mistake
_SIMILAR_SIZE = 4  # largest factor between the tensor sizes of programs with the same complexity
_MESSAGE_LENGTH = 120  # number of characters of an error message to compare


def same_failure(mine: Ran, wrong: Ran, right: Answers = ()) -> bool:
    """Return True if two runs failed with the same answers.

    right: the solution's answers; if given, two wrong values that are much closer to each other
        than to the correct value also count as the same
    """
    only_values = _only_values(mine, wrong)
    return same_answers(mine.answers, wrong.answers, right, only_values=only_values)


def same_answers(
    mine: Answers, wrong: Answers, right: Answers = (), *, only_values: bool = False
) -> bool:
    """Return True if two runs gave the same values, exceptions, gradients and side effects.

    only_values: ignore gradients and side effects
    """
    if len(mine) != len(wrong):
        return False
    calls = list(zip(mine, wrong, [*right, *[None] * len(mine)], strict=False))
    # Start with the last answer, because most runs differ where the test failed.
    return all(_same_answer(*call, only_values) for call in reversed(calls))


def partly_same_failure(mine: Ran, wrong: Ran, right: Answers) -> bool:
    """Return True if some parts of the results equal a misconception's and the rest is correct.

    For example, the student gets only the values wrong, and the misconception the keys as well.
    """
    count = len(mine.answers)
    if not _only_values(mine, wrong) or len(wrong.answers) != count or len(right) < count:
        return False
    found = [
        _partly_same_answer(*call) for call in zip(mine.answers, wrong.answers, right, strict=False)
    ]
    return None not in found and any(found)


def same_reason(mine: Ran, wrong: Ran) -> bool:
    """Return True if two runs failed for the same reason, even if their values differ."""
    if mine.report.verdict != wrong.report.verdict:
        return False
    if mine.flaw is Flaw.REFUSAL and len(mine.answers) != len(wrong.answers):
        return False  # the two programs accept different arguments
    if mine.flaw.independent_of_values and mine.report.message == wrong.report.message:
        return not _different_numbers(mine.last_answer, wrong.last_answer)
    if not mine.report.verdict.raised or len(mine.answers) != len(wrong.answers):
        return False
    error, other = mine.last_raised, wrong.last_raised
    return error is not None and other is not None and _same_error(error, other)


def _only_values(mine: Ran, wrong: Ran) -> bool:
    return mine.flaw.precedes_gradients and wrong.flaw.precedes_gradients


def _partly_same_answer(
    mine: Answer | Outcome, wrong: Answer | Outcome, right: Answer | Outcome
) -> bool | None:
    """Return True if some parts of a result equal the misconception's and the rest is correct.

    Return False if the whole result equals the misconception's or the solution's, and None if some
    part equals neither or the results cannot be compared.
    """
    answers = [x for x in (mine, wrong, right) if isinstance(x, tuple) and x[0].status == "ok"]
    if len(answers) < 3:
        return False if _same_answer(mine, wrong, right, True) else None
    try:
        own, other, good = (read_answer(answer)[0] for answer in answers)
    except frames.BadFrame:
        return None
    if not all(isinstance(x, (tuple, list)) for x in (own, other, good)):
        return False if same_value(own, other) else None
    shapes = {tuple(getattr(part, "shape", ())) for part in good}
    if not len(own) == len(other) == len(good) or len(shapes) > 1:
        return None
    is_wrong = [same_value(x, y, r) for x, y, r in zip(own, other, good, strict=True)]
    correct = [same_value(x, r) for x, r in zip(own, good, strict=True)]
    if not all(a or b for a, b in zip(is_wrong, correct, strict=True)):
        return None
    return any(is_wrong) and not all(is_wrong)


def _different_numbers(mine: Answer | Outcome | None, wrong: Answer | Outcome | None) -> bool:
    """Return True if two runs ended with Python numbers that differ by more than 1 %."""
    if not (isinstance(mine, tuple) and isinstance(wrong, tuple)):
        return False
    try:
        values = [read_answer(answer)[0] for answer in (mine, wrong)]
    except frames.BadFrame:
        return False
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    return numbers and not math.isclose(*values, rel_tol=_CLOSE)


def _same_answer(
    mine: Answer | Outcome,
    wrong: Answer | Outcome,
    right: Answer | Outcome | None,
    only_values: bool,
) -> bool:
    if isinstance(mine, Outcome) or isinstance(wrong, Outcome):
        return type(mine) is type(wrong)
    a, b = mine[0], wrong[0]
    if a.status != b.status or _banned(a) != _banned(b):
        return False
    if a.banned:  # the test stopped at the forbidden call, so nothing else is compared
        return True
    right = right if isinstance(right, tuple) else None
    if not only_values and (a.side_effects != b.side_effects or a.detached != b.detached):
        return False
    if (a.raised is None) != (b.raised is None) or _mismatch(a) != _mismatch(b):
        return False
    refused = right is not None and right[0].raised is not None
    if a.raised and b.raised and not _same_error(a.raised, b.raised, refused):
        return False
    if (a.counts is None) != (b.counts is None):
        return False
    if a.counts and b.counts and not _same_complexity(a.counts, b.counts):
        return False
    try:
        return _same_results(mine, wrong, right, only_values)
    except frames.BadFrame:
        return False


def _banned(reply: frames.Reply) -> set[str]:
    return {call.call.strip("_") for call in reply.banned}


def _mismatch(reply: frames.Reply) -> tuple[frozenset[object], ...] | None:
    """Return the parameters that fail to load, or None if the reply contains no mismatch.

    Unexpected tensors that do not belong to a layer are counted as one, because programs with the
    same mistake use different names.
    """
    found = reply.mismatch
    if found is None:
        return None
    layers = frozenset(
        n for n in found.unexpected if n.rpartition(".")[2] in ("weight", "bias") and "." in n
    )
    others = frozenset(["others"][: len(found.unexpected) - len(layers)])
    return frozenset(found.missing), layers, others, frozenset(found.shapes)


def _same_complexity(mine: frames.Counts, wrong: frames.Counts) -> bool:
    """Return True if two runs created tensors of similar size and launched similar kernels."""
    smaller, larger = sorted((mine.largest, wrong.largest))
    return larger <= _SIMILAR_SIZE * smaller and _kernel_use(mine) == _kernel_use(wrong)


def _kernel_use(counts: frames.Counts) -> tuple[object, ...]:
    """Summarise how kernels behaved, ignoring the exact number and size of their launches."""
    launches = counts.launches
    return (
        bool(counts.computed),  # outside of kernels
        frames.RESULT in counts.computed,
        min(len(launches), 2),
        any(x.outside_loads for x in launches),
        any(x.outside_stores for x in launches),
        {race.kind for x in launches for race in x.races},
        {_compiler_error(x.refused) for x in launches if x.refused},
        {(least, most) for x in launches for _, least, most in x.loads},
        max((x.largest.bit_length() for x in launches), default=0),
    )


def _compiler_error(error: frames.Raised) -> str:
    """Return a message of Triton's compiler without the names of variables."""
    return re.sub(r"`[^`]*`|(?<=variable )\w+", "", error.message)[:_MESSAGE_LENGTH]


def _same_results(mine: Answer, wrong: Answer, right: Answer | None, only_values: bool) -> bool:
    (value, gradients), (other, others) = read_answer(mine), read_answer(wrong)
    good, goods = read_answer(right) if right is not None else (None, ())
    # In a test of costs, both values are correct, and styles round differently in long sums.
    counted = right is not None and mine[0].counts is not None
    is_correct = counted and max(distance(value, good), distance(other, good)) <= 1
    if not is_correct and not same_value(value, other, good):
        return False
    if only_values:
        return True
    # Scale all gradients alike, because a gradient that should be 0 may be rounding noise.
    scale = max(map(largest_entry, others), default=0.0)
    return len(gradients) == len(others) and all(
        same_value(x, y, r, scale)
        for x, y, r in zip_longest(gradients, others, goods[: len(others)])
    )


def _same_error(mine: frames.Raised, wrong: frames.Raised, refused: bool = False) -> bool:
    """Return True if the types and messages of two exceptions agree.

    refused: the solution raises too, so messages of ValueError and AssertionError may differ
    """
    if mine.type != wrong.type:
        return False
    any_message = refused and mine.type in ("ValueError", "AssertionError")
    return any_message or _skeleton(mine.message) == _skeleton(wrong.message)


def _skeleton(message: str) -> str:
    return re.sub(r"\W+", " ", re.sub(r"'[^']*'", "", message))[:_MESSAGE_LENGTH]
