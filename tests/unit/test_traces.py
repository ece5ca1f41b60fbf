"""Test locating mistakes by values, with all programs in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autograder.grading.localization.candidate_runner import Probe
from autograder.grading.localization.traces import Traces, ValueHints
from autograder.grading.targets.in_process import InProcess
from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Encoder

SOLUTION = """import torch

def f(q, k):
    scores = q @ k.mT
    scores = scores / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1)
"""
OTHER_WAY = """import torch

def f(q, k):
    e = torch.exp(torch.einsum("nd,md->nm", q, k) / q.shape[-1] ** 0.5)
    return e / e.sum(-1, keepdim=True)
"""
BANK = {
    "no_scale": SOLUTION.replace("    scores = scores / q.shape[-1] ** 0.5\n", ""),
    "over_queries": SOLUTION.replace("dim=-1", "dim=-2"),
}
OWN_WORDS = """import torch

def f(a, b):
    width = a.size(1)
    table = torch.einsum("id,jd->ij", a, b)
    e = (table / width ** 0.5).exp()
    total = e.sum(0, keepdim=True)
    return e / total
"""


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    return compared(tmp_path, [SOLUTION, OTHER_WAY], BANK)


def compared(tmp_path: Path, right: list[str], bank: dict[str, str]) -> Traces:
    def target(source: str) -> InProcess:
        folder = tmp_path / str(abs(hash(source)))
        folder.mkdir(exist_ok=True)
        (folder / "m.py").write_text(source)
        return InProcess(folder / "m.py")

    made = Traces("f", right, bank.__getitem__, target)
    made.target = lambda source: target(source.decode())
    return made


def probe(name: str = "test_values", seed: int = 0) -> Probe:
    torch.manual_seed(seed)
    encoder = Encoder()
    args = tuple(encoder(torch.randn(n, 3)) for n in (4, 5))
    frame = frames.pack(frames.Call("f", None, "f", args, {}, "cpu", fresh=True), encoder.buffers)
    return Probe(name, [(frame, (frames.Reply("ok"), []))])


def hints(traces: Traces, source: str, *names: str):
    return traces.hints(source, frozenset(), traces.target, [probe()], names)


def test_a_line_is_odd_where_its_value_is_no_right_programs(traces):
    found = hints(traces, OWN_WORDS)
    assert ("f", 7) in found.odd
    assert ("f", 5) not in found.odd


def test_a_named_mistake_is_where_what_makes_its_value_leaves_the_right_ones(traces):
    assert hints(traces, OWN_WORDS, "over_queries").named == (("over_queries", ("f", 7)),)


def test_in_right_code_no_misconception_is_located(traces):
    right = OWN_WORDS.replace("sum(0", "sum(1")
    assert hints(traces, right, "over_queries").named == ()


def test_what_cannot_be_run_says_nothing(traces):
    found = hints(traces, "def f(:\n")
    assert not found.odd
    assert not found.named


MASKED = """import torch

def look(q, k, mask):
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(mask, 0.0)
    return torch.softmax(scores, dim=-1)

def f(q, k):
    mask = torch.ones(4, 5)
    mask = mask.triu(1).bool()
    return look(q, k, mask)
"""


def test_the_line_is_told_if_the_mask_was_there_all_the_time(tmp_path):
    bank = {"turned": MASKED.replace("scores.masked_fill(mask,", "scores.masked_fill(~mask,")}
    traces = compared(tmp_path, [MASKED], bank)
    found = traces.hints(bank["turned"], frozenset(), traces.target, [probe()], ("turned",))
    assert found.named == (("turned", ("look", 6)),)


COUNTS = """import torch

def f(q, k):
    places = 7 + torch.arange(4)
    seen = places[:, None] * torch.ones(4, 3)
    return q * seen
"""


def test_the_first_value_that_leaves_the_right_ones_is_that_of_the_same_mistake(tmp_path):
    bank = {"from_zero": COUNTS.replace("7 + torch.arange(4)", "+torch.arange(4) * 3")}
    own = COUNTS.replace("7 + torch.arange(4)", "torch.arange(4) * 3 + 0 * 5")
    found = hints(compared(tmp_path, [COUNTS], bank), own, "from_zero")
    assert found.named == (("from_zero", ("f", 4)),)


def test_a_value_that_is_one_number_everywhere_tells_of_no_mistake(tmp_path):
    right = COUNTS.replace("7 + torch.arange(4)", "torch.arange(4)")
    nothing = right.replace("seen = places[:, None] * torch.ones(4, 3)", "seen = torch.zeros(4, 3)")
    other = right.replace(
        "return q * seen", "none = torch.zeros(4, 3)\n    return none.exp() * q + 1"
    )
    found = hints(compared(tmp_path, [right], {"zeros": nothing}), other, "zeros")
    assert found.named == ()


PADDED = """import torch

def f(q, k):
    before = torch.cat([torch.zeros_like(q[:1]), q[:-1]])
    return torch.cat([before, q]).sum(0) * k.mean()
"""
ROLLED = """import torch

def f(q, k):
    return torch.cat([torch.roll(q, 1, 0) * 2, q]).sum(0) * k.mean()
"""
ROLLED_BEFORE = """import torch

def f(q, k):
    shifted = torch.roll(q, 1, 0) * 2
    both = torch.cat([shifted, q])
    return both.sum(0) * k.mean()
"""


def test_of_a_mistake_that_is_written_in_two_lines_the_first_is_told(tmp_path):
    """Use a misconception in one statement that the student spreads over two: report the first."""
    traces = compared(tmp_path, [PADDED], {"is_a_ring": ROLLED})
    assert hints(traces, ROLLED_BEFORE, "is_a_ring").named == (("is_a_ring", ("f", 4)),)


TABLE = """import torch

def f(q, k):
    head = " " * 3 + "".join(f"{n:>3}" for n in range(len(k)))
    levels = [int(x * 4) for x in q[:, 0].abs()]
    return "\\n".join([head, *map(str, levels)])
"""


def test_texts_and_lists_are_values_where_one_is_given_back(tmp_path):
    rounds = TABLE.replace("int(x * 4)", "round(float(x) * 4)")
    traces = compared(tmp_path, [TABLE], {"rounds": rounds})
    assert hints(traces, rounds, "rounds").named == (("rounds", ("f", 5)),)


def test_what_is_only_said_or_on_the_way_is_no_odd_value(tmp_path):
    talks = OWN_WORDS.replace("    e = ", '    print(f"{a} of {[*b.shape]}")\n    e = ')
    traces = compared(tmp_path, [SOLUTION, OTHER_WAY], BANK)
    said, silent = (hints(traces, s, "over_queries") for s in (talks, OWN_WORDS))
    assert [n for _, (_, n) in said.named] == [n + 1 for _, (_, n) in silent.named]
    assert {n for _, n in said.odd} == {n + 1 for _, n in silent.odd}


def test_a_number_that_no_float_holds_stops_nothing(traces):
    huge = OWN_WORDS.replace("    e = ", "    many = [10**400, 1]\n    e = ")
    assert hints(traces, huge, "over_queries").named == (("over_queries", ("f", 8)),)


FILLS_A_SHAPE = """import torch

def f(q, k):
    shape = [1] * q.ndim
    shape[-1] = q.shape[-1]
    ones = torch.ones(shape)
    scores = (q * ones) @ k.mT
    return torch.softmax(scores / q.shape[-1] ** 0.5, dim=-2)
"""


def test_a_list_that_nobody_else_fills_is_no_mistake(tmp_path):
    lists = OTHER_WAY.replace("    e = ", "    sizes = [*q.shape, 7]\n    e = ")
    traces = compared(tmp_path, [SOLUTION, lists], BANK)
    assert hints(traces, FILLS_A_SHAPE, "over_queries").named == (("over_queries", ("f", 8)),)


SCALED_FIRST = """import torch

def f(q, k):
    doubled = q * 2
    scores = doubled @ k.mT / 2
    e = torch.exp(scores / q.shape[-1] ** 0.5)
    return e / e.sum(0, keepdim=True)
"""


def test_a_value_that_leads_back_to_right_ones_is_a_matter_of_style(traces):
    assert hints(traces, SCALED_FIRST).first == (("f", 7),)


TURNED = """import torch

def f(q, k):
    scores = torch.einsum("nd,md->nm", q, k) / q.shape[-1] ** 0.5
    scores = scores.reshape(5, 4)
    scores = scores * 1.5
    return torch.softmax(scores, dim=-1)
"""


def test_entries_in_another_order_are_wrong_if_what_follows_is_wrong(traces):
    assert hints(traces, TURNED).first == (("f", 5),)


IN_PLACE = """import torch

def f(q, k):
    scores = q @ k.mT
    scores /= q.shape[-1]
    return torch.softmax(scores, dim=-1)
"""


def test_a_value_that_is_changed_in_place_is_wrong_where_it_is_changed(traces):
    assert hints(traces, IN_PLACE).first == (("f", 5),)


ONE_NAME_FOR_ANOTHER = """import torch

def f(q, k):
    {first}
    {second}
    scores = a @ b.mT / 3
    return torch.softmax(scores, dim=-1)
"""


@pytest.mark.parametrize(
    ("first", "second", "uncertain"),
    [
        ("a = k", "b = q", True),
        ("a, b = k, q", "pass", True),
        ("a = q * 1.0", "b = k * 1.0", False),
    ],
)
def test_a_line_is_uncertain_if_its_operands_may_have_the_wrong_names(
    traces, first, second, uncertain
):
    source = ONE_NAME_FOR_ANOTHER.format(first=first, second=second)
    assert hints(traces, source).uncertain == frozenset({("f", 6)} if uncertain else ())


READS_ONE_BLOCK = """import torch

def f(q, k):
    total = 0
    for i in range(0, 4, 2):
        rows = q[:2] @ k.mT
        total = total + rows
    return total
"""


def test_a_line_is_uncertain_if_a_loop_computes_its_operand_again(tmp_path):
    right = READS_ONE_BLOCK.replace("q[:2]", "q[i : i + 2]")
    found = hints(compared(tmp_path, [right], {}), READS_ONE_BLOCK)
    assert found.first == (("f", 7),)
    assert found.uncertain == frozenset(found.first)


STARTS_AT_ZERO = """import torch

def f(q, k):
    total, ones = 0 * q, torch.ones_like(q)
    total = torch.zeros_like(q)
    total = total + q * k.mean()
    return total
"""


def test_a_line_is_uncertain_if_its_operand_is_a_constant(tmp_path):
    source = STARTS_AT_ZERO.replace("zeros_like", "ones_like")
    found = hints(compared(tmp_path, [STARTS_AT_ZERO], {}), source)
    assert found.uncertain == frozenset({("f", 6)})


def test_a_line_is_uncertain_if_it_may_run_by_mistake(traces):
    source = OWN_WORDS.replace("    total = ", "    if width:\n        e = e * 1.5\n    total = ")
    assert hints(traces, source.replace("sum(0", "sum(1")).uncertain == frozenset()
    assert ("f", 8) in hints(traces, source).uncertain


A, B = ("f", 1), ("f", 2)


@pytest.mark.parametrize(("first", "agreed"), [((A, A), {A}), ((A, B), set()), ((A,), set())])
def test_tests_agree_on_their_first_deviation(first, agreed):
    found = ValueHints(first=first)
    assert found.agreed == found.certain == agreed
    assert found.joined(ValueHints(uncertain=frozenset({A}))).certain == set()


CHOOSING = """import torch

def f(q, k):
    moved = k + q[:1]
    chosen = moved if len(q) < len(k) else k
    return chosen.cumsum(0)
"""
NEVER_MOVES = CHOOSING.replace("moved if len(q) < len(k) else k", "k[:]")
OWN_CHOICE = """import torch

def f(q, k):
    shifted = k + q[:1]
    if len(q) < len(k):
        picked = k[:]
    else:
        picked = shifted * 1
    return torch.cumsum(picked, 0)
"""


def test_a_wrong_choice_is_located_where_a_variable_gets_the_value(tmp_path):
    traces = compared(tmp_path, [CHOOSING], {"never_moves": NEVER_MOVES})
    found = hints(traces, OWN_CHOICE, "never_moves").named
    assert found == (("never_moves", ("f", 6)),)


def share(traces: Traces, source: str) -> float:
    return sum(hints(traces, source).shares)


SMALL_STEPS = """import torch

def f(q, k):
    scores = q @ k.mT
    scores = scores / q.shape[-1] ** 0.5
    e = torch.exp(scores)
    weights = e / e.sum(-1, keepdim=True)
    return weights @ k
"""


@pytest.mark.parametrize(
    ("old", "new", "least", "most"),
    [
        (
            "return weights @ k",
            "return (weights @ k).mT.flip(0).cumsum(0), k",
            0.0,
            0.0,
        ),  # on purpose
        ("return weights @ k", "return weights.mT @ q", 0.75, 0.95),  # only the last step is wrong
        ("return weights @ k", "return weights * 0", 0.75, 0.95),  # the result is not considered
        ("scores = q @ k.mT", "scores = q[:1] @ k.mT", 0.0, 0.0),  # every later value is wrong
        ("scores = q @ k.mT", "return q.mT, 2 * q, k", 0.0, 0.0),  # arguments take no work
    ],
)
def test_the_share_of_correct_steps(tmp_path, old, new, least, most):
    source = SMALL_STEPS.replace(old, new, 1)
    assert least <= share(compared(tmp_path, [SMALL_STEPS], {}), source) <= most


def test_entries_in_a_different_order_are_the_same_step(tmp_path):
    source = SMALL_STEPS.replace("q @ k.mT", "(k @ q.mT).mT")
    source = source.replace("return weights @ k", "return weights.mT @ q")
    assert share(compared(tmp_path, [SMALL_STEPS], {}), source) > 0.75


def test_a_program_that_computes_much_more_than_correct_ones_has_no_correct_steps(tmp_path):
    tries = "".join(f"    torch.tanh(q * {n + 2}.5)\n" for n in range(40))
    source = SMALL_STEPS.replace("    return", f"{tries}    return")
    assert share(compared(tmp_path, [SMALL_STEPS], {}), source) == 0.0


def test_a_short_program_has_too_few_steps(tmp_path):
    sums = "def f(q, k):\n    return q.sum(0)\n"
    assert share(compared(tmp_path, [sums], {}), sums) == 0.0
