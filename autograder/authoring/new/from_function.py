"""What an exercise brings that is made of a function: tests, a public check, misconceptions.

Calls that work are found by probing. They become hidden tests, with a property that holds; the
public check is one of them with its numbers written out; and small changes of the function become
misconceptions, each of which the author keeps or throws away.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import torch

from ...model.errors import CourseError
from .claims import HeldClaim, claims
from .function_source import BLANK, TakenFunction
from .new_exercise import Made
from .probing import Function, Sample, bounded, defined, drawn, is_steady, samples
from .proposals import Proposal, proposals


class Kept(msgspec.Struct, frozen=True):
    """A proposal that the author keeps; `believes` in the author's words, if any were given."""

    proposal: Proposal
    believes: str = ""


Choose = Callable[[list[Proposal]], list[Kept]]


def made_of(function: TakenFunction, choose: Choose) -> Made:
    """Tests, public check and misconceptions for a function; raises CourseError if none are found.

    choose: asks the author which of the proposals to keep
    """
    try:
        run: Function = defined(function.module)[function.name]
    except Exception as error:  # the author's own code
        raise CourseError(f"{function.name}: {type(error).__name__}: {error}") from None
    node = _node(function)
    found = samples(node, run)
    if not found:
        raise CourseError(
            f"no call of {function.name} was found that gives a result: say the types of its "
            "parameters (torch.Tensor, int, list[str], …), or make the exercise with --exercise"
        )
    if not is_steady(run, found[0]):
        raise CourseError(
            f"{function.name} gives another result when it is called again: what it draws must "
            "come from an argument"
        )
    kept = choose(proposals(function.module, function.name, found))
    tests = _tests(function.name, run, found, kept)
    return Made(
        function=function,
        grader=_grader(function.name, tests, _claim(function.name, run, found[0], kept)),
        public=_public(function.name, run, node, found[0]),
        misconceptions={
            f"{function.name}_{k.proposal.name}": _misconception(function.name, k, tests)
            for k in kept
        },
    )


def _node(function: TakenFunction) -> ast.FunctionDef:
    for top in ast.parse(function.module).body:
        if isinstance(top, ast.FunctionDef) and top.name == function.name:
            return top
    raise AssertionError("a function was taken, and is not there")


class _Test(msgspec.Struct, frozen=True):
    """A hidden test of one sample."""

    name: str
    text: str
    sample: int


def _tests(name: str, run: Function, found: list[Sample], kept: list[Kept]) -> list[_Test]:
    """A test for each sample that tells a kept misconception from the solution."""
    tests: list[_Test] = []
    for number, sample in enumerate(found):
        if kept and not any(number in k.proposal.rejected_by for k in kept):
            continue
        title = f"test_{sample.about}" if sample.about else "test_values"
        if any(t.name == title for t in tests):
            title = f"test_other_values_{number}"
        says = f"`{sample.about}` is heeded." if sample.about else "The values are right."
        flows = _flows(run, sample)
        says = says[:-1] + ", and gradients flow." if flows else says
        gradients = ".gradients" if flows else ""
        text = f'def {title}(agree{_draws(sample.text)}):\n    """{says}"""\n'
        text += f"    agree{gradients}.{name}({sample.text})\n"
        tests.append(_Test(title, text, number))
        if not number and "draw." in sample.text and "array" not in sample.text:
            text = 'def test_device(agree, draw, device):\n    """Everything happens on the device '
            text += f'of the input."""\n    agree.{name}({sample.text})\n'
            tests.append(_Test("test_device", text, number))
    return tests


def _draws(text: str) -> str:
    return ", draw" if "draw." in text else ""


def _flows(run: Function, sample: Sample) -> bool:
    """Return whether gradients flow from the result to a tensor that was given."""
    args, kwargs = sample.arguments(drawn(0))
    given = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
    given = [a.requires_grad_() for a in given if a.is_floating_point()]
    try:
        value = run(*args, **kwargs)
        return bool(given and value.grad_fn is not None)
    except Exception:  # code that cannot be differentiated
        return False


def _claim(name: str, run: Function, sample: Sample, kept: list[Kept]) -> HeldClaim | None:
    """A property that holds, and that a kept misconception never has."""
    for claim in claims(name, run, sample):
        for k in kept:
            wrong = _wrong(k, run, name)
            if wrong is not None and not any(claim.holds(name, wrong, s) for s in range(6)):
                return claim
    return None


def _wrong(kept: Kept, run: Function, name: str) -> Function | None:
    """A misconception as a function, beside what the solution's module defines."""
    names = dict(getattr(run, "__globals__", {}))
    exec(compile(kept.proposal.source, "<taken>", "exec"), names)  # made of the author's
    wrong = names.get(name)
    if wrong is run:  # what it uses is wrong
        wrong = type(run)(run.__code__, names, name, run.__defaults__, run.__closure__)
        wrong.__kwdefaults__ = run.__kwdefaults__
    return wrong


def _grader(name: str, tests: list[_Test], claim: HeldClaim | None) -> str:
    head = f'"""Hidden graders for `{name}`. {BLANK}: one test per thing that can go wrong."""\n'
    if claim is not None:
        head += f"\nfrom autograder.authors import {', '.join(claim.words)}\n"
    texts = [t.text for t in tests] + ([claim.text] if claim else [])
    return "\n\n".join([head, *texts]).replace("\n\n\n\n", "\n\n\n")


def _public(name: str, run: Function, node: ast.FunctionDef, sample: Sample) -> str:
    """One call with its numbers written out."""
    args, kwargs = _rounded(sample)
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    lines = [f"def test_{name}_by_hand():", f"    from topic import {name}", ""]
    lines += [f"    {n} = {_literal(a)}" for n, a in zip(names, args, strict=False)]
    given = [*names[: len(args)], *(f"{n}={_literal(a)}" for n, a in kwargs.items())]
    with bounded(set()):
        value = run(*args, **kwargs)
    lines.append(f"    found = {name}({', '.join(given)})")
    lines += _asserted(value)
    said = f'        f"{{found}} is not what it should be: {BLANK}: what to look at"'
    if any("numpy." in line for line in lines):
        lines.insert(1, "    import numpy")
    return "\n".join([*lines, said, "    )", ""])


def _asserted(value: Any) -> list[str]:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        found, expected = "found.double()", "expected.double()"
        if isinstance(value, np.ndarray):
            found, expected = "torch.tensor(found).double()", "torch.tensor(expected).double()"
        return [
            f"    expected = {_literal(value)}",
            '    assert found.shape == expected.shape, f"the shape is {found.shape}"',
            f"    assert torch.allclose({found}, {expected}, atol=1e-3), (",
        ]
    if isinstance(value, float):
        return [f"    assert abs(found - {round(value, 6)!r}) < 1e-4, ("]
    if _is_literal(value):
        return [f"    expected = {_literal(value)}", "    assert found == expected, ("]
    return ["    assert found is not None, ("]


def _rounded(sample: Sample) -> tuple[list[Any], dict[str, Any]]:
    args, kwargs = sample.arguments(drawn(7))

    def rounded(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return (value * 10).round() / 10
        is_real = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        return np.round(value, 1) if is_real else value

    return [rounded(a) for a in args], {n: rounded(a) for n, a in kwargs.items()}


def _literal(value: Any) -> str:
    """A value as Python that makes it."""
    if isinstance(value, torch.Tensor):
        return f"torch.tensor({_rows(value.tolist())})"
    if isinstance(value, np.ndarray):
        dtype = f", dtype=numpy.{value.dtype.name}" if value.dtype.kind == "f" else ""
        return f"numpy.array({_rows(value.tolist())}{dtype})"
    return _rows(value)


def _rows(value: Any) -> str:
    """Numbers as they are read, rows below each other."""
    text = repr(_shortened(value))
    if not isinstance(value, list) or len(text) < 60:
        return text
    rows = ",\n".join(textwrap.indent(_rows(v), " " * 8) for v in value)
    return f"[\n{rows},\n    ]"


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(v) for v in value]
    return round(value, 4) + 0.0 if isinstance(value, float) else value


def _is_literal(value: Any) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False


def _misconception(name: str, kept: Kept, tests: list[_Test]) -> str:
    proposal = kept.proposal
    rejecting = next((t.name for t in tests if t.sample in proposal.rejected_by), "test_values")
    believes = kept.believes or f"{BLANK}: why a student would write this."
    title = kept.believes or f"{BLANK}: the mistake in a few words."
    doc = f'''"""{title[:1].upper()}{title[1:].rstrip(".")}.

Exercise: {name}
Believes: {believes}
Shows: {proposal.shows}
Hint: {BLANK}: a question that leads on, and gives nothing away.
Rejected by: {rejecting}
Costs: 40 %
"""'''
    return f"{textwrap.dedent(doc)}\n\n\n{proposal.source}"
