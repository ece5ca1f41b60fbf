"""Test symptoms of failed tests."""

from __future__ import annotations

import pytest
import torch

from autograder.grading.diagnosis.symptoms import by_symptom
from autograder.grading.disclosure.known_errors import TEMPLATES, family
from autograder.grading.outcomes import Flaw
from autograder.grading.running.pytest_plugin import Ran
from autograder.model.report.findings import EFFECTS, FINDINGS, symptom_name
from autograder.model.report.schema import TestReport as Reported
from autograder.model.report.schema import Verdict
from autograder.worker.protocol import frames
from autograder.worker.protocol.frames import Answer
from autograder.worker.protocol.values import Encoder

RIGHT = torch.tensor([1.0, 2.0, 4.0])


def answer(value: object, **fields: object) -> Answer:
    encoder = Encoder()
    reply = frames.Reply("ok", value=encoder(value), **fields)
    return reply, [memoryview(bytes(b)) for b in encoder.buffers]


def stopped(kind: str, message: str) -> Answer:
    return frames.Reply("raised", raised=frames.Raised(kind, (kind, "Exception"), message, 3)), []


def ran(name: str, last: Answer, flaw: Flaw, verdict: Verdict = Verdict.WRONG) -> Ran:
    return Ran(Reported(name, verdict, 1.0, "It is wrong."), "f", [last], flaw=flaw)


def shown(*runs: Ran, right: object = RIGHT) -> list[str]:
    answers = {r.report.name: [answer(right)] for r in runs}
    failing = [r for r in runs if r.report.verdict.failed]
    return [d.name.removeprefix("shows:") for d in by_symptom(failing, runs, answers)]


@pytest.mark.parametrize(
    ("value", "flaw", "name"),
    [
        (RIGHT.double(), Flaw.KIND, "number type"),
        (RIGHT[None], Flaw.KIND, "shape"),
        (1.0, Flaw.KIND, "kind"),
        (torch.tensor([1.0, torch.nan, 4.0]), Flaw.VALUE, "nan"),
        (RIGHT * 1.0005, Flaw.VALUE, "digits"),
        (RIGHT * 0, Flaw.VALUE, "zeros"),
        (RIGHT * 0 + 3, Flaw.VALUE, "constant"),
        (RIGHT, Flaw.GRADIENT, "gradient"),
        (RIGHT, Flaw.EFFECT, "touched"),
        (RIGHT, Flaw.DETACHED, "detached"),
        (RIGHT, Flaw.REFUSAL, "accepts"),
    ],
)
def test_what_an_answer_shows(value: object, flaw: Flaw, name: str) -> None:
    assert shown(ran("a", answer(value), flaw)) == [name]


@pytest.mark.parametrize("value", [RIGHT * 2, torch.tensor([9.0, torch.nan, 4.0])])
def test_other_values_show_nothing_by_themselves(value: torch.Tensor) -> None:
    assert shown(ran("a", answer(value), Flaw.VALUE)) == []


def test_one_number_shows_nothing_where_right_code_gives_one_number_too() -> None:
    assert shown(ran("a", answer(RIGHT * 0), Flaw.VALUE), right=RIGHT * 0 + 1) == []


@pytest.mark.parametrize(
    ("kind", "message", "name"),
    [
        ("ValueError", "not enough values to unpack (expected 4, got 3)", "parts"),
        ("RuntimeError", "expected scalar type Float but found Half", "number types"),
        ("IndexError", "too many indices for tensor of dimension 2", "axes"),
        ("RuntimeError", "The size of tensor a (5) must match the size of tensor b (3) "
         "at non-singleton dimension 1", "sizes"),
        ("RuntimeError", "Expected tensor to have cuda:0 Device, but got tensor with cpu Device "
         "(while checking arguments for torch.take_along_dim():)", "devices"),
        ("AttributeError", "whatever it says", "unknown names"),
        ("KeyError", "'k'", "stopped"),
        ("RuntimeError", "the inputs were 0.25 and 0.5", "stopped"),
    ],
)  # fmt: skip
def test_errors_are_told_by_kind_and_never_by_their_text(
    kind: str, message: str, name: str
) -> None:
    assert family(kind, message) == name
    assert shown(ran("a", stopped(kind, message), Flaw.CLAIM, Verdict.CRASHED)) == [name]


@pytest.mark.parametrize("family_of_errors", TEMPLATES)
def test_every_family_of_errors_has_a_wording(family_of_errors: str) -> None:
    assert symptom_name(family_of_errors) in FINDINGS


def test_every_side_effect_has_a_wording() -> None:
    assert EFFECTS.keys() == {effect.value for effect in frames.Effect}


def test_layers_that_do_not_fit_are_told_by_what_is_wrong_with_them() -> None:
    more = frames.StateMismatch((), ("mask",), ())
    lacks = frames.StateMismatch(("W_o.weight",), (), ())
    other = frames.StateMismatch(("W_o.weight",), ("out.weight",), ())
    told = ((more, "more"), (lacks, "lacks"), (other, "names of state"))
    for mismatch, name in told:
        assert shown(ran("a", answer(None, mismatch=mismatch), Flaw.STATE)) == [name]


def test_digits_are_lost_only_where_no_value_is_far_off() -> None:
    near, far = (ran(n, answer(RIGHT * by), Flaw.VALUE) for n, by in (("a", 1.0005), ("b", 2)))
    assert shown(near, far) == []


def test_zeros_in_a_few_tests_are_not_told() -> None:
    runs = [ran("a", answer(RIGHT * 0), Flaw.VALUE)]
    runs += [ran(n, answer(RIGHT * 2), Flaw.VALUE) for n in "bc"]
    assert shown(*runs) == []


def test_what_most_tests_show_comes_first_with_how_many() -> None:
    runs = [ran(n, answer(RIGHT.double()), Flaw.KIND) for n in "ab"]
    runs.append(ran("c", answer(RIGHT), Flaw.REFUSAL))
    runs.append(ran("d", answer(RIGHT * 2), Flaw.VALUE))
    found = by_symptom(runs, runs, {n: [answer(RIGHT)] for n in "abcd"})
    assert [(d.name, d.explains, d.of) for d in found] == [
        ("shows:number type", 2, 4),
        ("shows:accepts", 1, 4),
    ]
