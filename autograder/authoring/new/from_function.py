"""Draft an exercise from the author's function: hidden tests, a public check, misconceptions.

A draft is a starting point. The function is called with guessed inputs, and calls that succeed
become tests. Each of them, and each misconception that the author keeps, contains `FILL IN`, and
`verify` reports it until the author has checked the inputs and written down the claim.
"""

from __future__ import annotations

import inspect
import pprint
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import torch

from ...model.errors import CourseError
from .function_source import PLACEHOLDER, ExtractedFunction
from .new_exercise import ExerciseDraft
from .probing import Function, SampleCall, define, equal, guess_calls, run
from .proposals import Proposal, propose

_PUBLIC_SEED = 7


class AcceptedProposal(msgspec.Struct, frozen=True):
    """A proposal that the author accepts, and optionally the belief behind the mistake."""

    proposal: Proposal
    believes: str = ""


def draft_exercise(
    function: ExtractedFunction, choose: Callable[[list[Proposal]], list[AcceptedProposal]]
) -> ExerciseDraft:
    """Draft tests, a public check and misconceptions for a function.

    choose: asks the author which proposals to keep. Raise CourseError if no guessed call succeeds
    or if two equal calls return different results.
    """
    name = function.name
    try:
        solution: Function = define(function.module)[name]
    except Exception as error:  # of the author's own code
        raise CourseError(f"{name}: {type(error).__name__}: {error}") from None
    calls = guess_calls(solution)
    if not calls:
        raise CourseError(
            f"no call of {name} succeeded: annotate its parameters (torch.Tensor, int, list[str], "
            "…), or make the exercise with --exercise"
        )
    if not equal(run(solution, calls[0], 0), run(solution, calls[0], 0)):
        raise CourseError(
            f"{name} returns different results for equal inputs: random numbers must come from an "
            "argument"
        )
    kept = choose(propose(function.module, name, calls))
    misconceptions = {}
    for number, chosen in enumerate(kept, start=1):
        words = re.sub(r"\W+", "_", chosen.believes.lower()).strip("_")[:40]
        test = _title(calls[chosen.proposal.rejected_by[0]])
        misconceptions[f"{name}_{words or f'mistake_{number}'}"] = _misconception(
            name, chosen, test
        )
    useful = [
        n for n in range(len(calls)) if not kept or any(n in k.proposal.rejected_by for k in kept)
    ]
    return ExerciseDraft(
        function=function,
        grader=_grader(name, [calls[n] for n in useful]),
        public_check=_public_check(name, solution, calls[0]),
        misconceptions=misconceptions,
    )


def _title(call: SampleCall) -> str:
    return f"test_{call.varied or 'values'}"


def _grader(name: str, calls: Sequence[SampleCall]) -> str:
    """Return a module with a hidden test for each call, and one for the device."""
    claim = f"{PLACEHOLDER}: what this test claims; check its inputs."
    tests = [f'"""Hidden graders for `{name}`. {PLACEHOLDER}: one test per possible mistake."""\n']
    tests += [_test(_title(call), "agree", claim, name, call) for call in calls]
    if "draw." in calls[0].text and "draw.array" not in calls[0].text:
        claim = "The result is on the device of the input."
        tests.append(_test("test_device", "agree, device", claim, name, calls[0]))
    return "\n\n".join(tests)


def _test(title: str, parameters: str, claim: str, name: str, call: SampleCall) -> str:
    parameters += ", draw" if "draw." in call.text else ""
    return f'def {title}({parameters}):\n    """{claim}"""\n    agree.{name}({call.text})\n'


def _misconception(name: str, kept: AcceptedProposal, test: str) -> str:
    title = kept.believes or f"{PLACEHOLDER}: the mistake in a few words"
    return f'''"""{title[:1].upper()}{title[1:].rstrip(".")}.

Exercise: {name}
Believes: {kept.believes or f"{PLACEHOLDER}: why a student would write this."}
Shows: {PLACEHOLDER}: how its results differ.
Hint: {PLACEHOLDER}: a question that helps without giving the answer.
Rejected by: {test}
Costs: 40 %
"""


{kept.proposal.source}'''


def _public_check(name: str, solution: Function, call: SampleCall) -> str:
    """Return a public check: one call with its inputs and its result written out."""
    positional, keywords = call.arguments(_PUBLIC_SEED)
    names = [*inspect.signature(solution).parameters][: len(positional)]
    inputs = {n: _rounded(v) for n, v in zip(names, positional, strict=True)}
    keywords = {n: _rounded(v) for n, v in keywords.items()}
    result = solution(*inputs.values(), **keywords)
    given = ", ".join([*names, *(f"{n}={n}" for n in keywords)])
    lines = [f"{n} = {_literal(v)}" for n, v in {**inputs, **keywords}.items()]
    lines += [f"found = {name}({given})", f"expected = {_literal(result)}"]
    if isinstance(result, torch.Tensor):
        lines.append("assert found.shape == expected.shape, found.shape")
        lines.append("assert torch.allclose(found.double(), expected.double(), atol=1e-3), (")
    elif isinstance(result, np.ndarray):
        lines.append("assert numpy.allclose(found, expected, atol=1e-3), (")
    else:
        lines.append("assert found == expected, (")
    lines += [f'    f"{PLACEHOLDER}: a hint for a student who gets {{found}}"', ")"]
    imports = ["import numpy"] if any("numpy." in line for line in lines) else []
    imports += [f"from topic import {name}", ""]
    return "\n".join([f"def test_{name}_by_hand():", *(_indented(t) for t in imports + lines), ""])


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


def _rounded(value: Any) -> Any:
    """Round the input to one decimal if it is a tensor or array, so that it is easy to read."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return (value * 10).round() / 10
    is_real = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return np.round(value, 1) if is_real else value


def _literal(value: Any) -> str:
    """Return Python code for a value, with four decimals in tensors and arrays."""
    if isinstance(value, torch.Tensor):
        shown = (
            np.round(value.double().numpy(force=True), 4) if value.is_floating_point() else value
        )
        return f"torch.tensor({_numbers(shown.tolist())})"
    if isinstance(value, np.ndarray):
        shown = np.round(value, 4) if value.dtype.kind == "f" else value
        return f'numpy.array({_numbers(shown.tolist())}, dtype="{value.dtype.name}")'
    return _numbers(value)


def _numbers(value: Any) -> str:
    return pprint.pformat(value, width=88, compact=True)
