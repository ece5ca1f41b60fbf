"""Test that a message reveals fewer than 32 bits chosen by a liar, and enough for honest work."""

from __future__ import annotations

import itertools
import math
import re
import struct

import pytest
import torch

from autograder.grading.assertions.properties import all_finite, rows_sum_to_one
from autograder.grading.assertions.value_comparison import compare
from autograder.grading.disclosure.allowed_words import AllowedWords
from autograder.grading.disclosure.failure_messages import crashed, forbidden, state_mismatch
from autograder.grading.disclosure.known_errors import KNOWN
from autograder.grading.disclosure.leak_budget import MOST_BITS, MessageBudget, with_products
from autograder.grading.outcomes import Wrong
from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Drawing, Figure, Image

HONEST = (
    "import torch",
    "",
    "def softmax(x, dim=-1):",
    "    weights = x @ x.view(2, 8)",
    "    return weights / weights.sum(dim)",
    *(f"line{n} = other{n % 80}" for n in range(200)),  # as long as a week's module
)
# A liar's source contains all numbers and as many names as the longest allowed file.
TABLE = tuple(f"w{n:04x} = {n}" for n in range(1 << 12))
LIAR = (*HONEST, *TABLE)
SIZES = with_products([(2, 3, 8), (8, 4)])
SECRET = struct.pack("<f", 1.2345678)
HALVES = struct.unpack("<HH", SECRET)
DIGITS = [b >> s & 15 for b in SECRET for s in (4, 0)]


def raised(message: str, kind: str = "RuntimeError", line: int | None = 4) -> frames.Raised:
    return frames.Raised(kind, (kind, "Exception"), message, line)


def told(what: frames.Raised, source: tuple[str, ...] = HONEST) -> str:
    return crashed("softmax", what, "softmax.py", source, sizes=SIZES).message


# Templates: a liar chooses numbers for N and names for S.
SENTENCES = [
    "The size of tensor a (N) must match the size of tensor b (N) at non-singleton dimension N",
    "mat1 and mat2 shapes cannot be multiplied (NxN and NxN)",
    "mat1 and mat2 must have the same dtype, but got S and S",
    "Expected size for first two dimensions of batch2 tensor to be: [N, N, N, N, N, N] but got: "
    "[N, N, N, N, N, N].",
    "Dimension out of range (expected to be in range of [N, N], but got N)",
    "shape '[N, N, N, N, N, N]' is invalid for input of size N",
    "Expected all tensors to be on the same device, but got S and S!",
    "Expected tensor to have S Device, but got tensor with S Device (while checking arguments for "
    "S():)",
    "operands could not be broadcast together with shapes (N,N,N,N,N,N) (N,N,N,N,N,N)",
    "index N is out of bounds for dimension N with size N",
    "too many indices for array: array is N-dimensional, but N were indexed",
    "name 'S' is not defined. Did you mean: 'S'?",
    "'S' object has no attribute 'S'. Did you mean: 'S'?",
    "S() missing N required positional arguments: 'S', 'S', 'S', 'S' and 'S'",
    "S() takes from N to N positional arguments but N were given",
    "unsupported operand type(s) for -*/: 'S' and 'S'",
    "output with shape [N, N, N, N, N, N] doesn't match the broadcast shape [N, N, N, N, N, N]",
    "einsum(): subscript q has size N for operand N which does not broadcast with previously seen "
    "size N",
]


def filled(sentence: str, numbers: list[int], names: list[str]) -> str:
    values, words = itertools.cycle(map(str, numbers)), itertools.cycle(names)
    text = re.sub(r"\bN\b|(?<=\()N(?=x)|(?<=x)N\b|N(?=x)", lambda _: next(values), sentence)
    return re.sub(r"\bS\b", lambda _: next(words), text)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("numbers", [list(HALVES), [*SECRET], DIGITS], ids=["16", "8", "4"])
def test_no_sentence_carries_a_hidden_number(sentence: str, numbers: list[int]) -> None:
    """Check that the hidden number cannot be recovered in full, as bytes or as digits."""
    names = [f"w{n % 4096:04x}" for n in numbers]
    sent = raised(filled(sentence, numbers, names), names[0], 6 + numbers[0] % 4096)
    assert KNOWN.match(sent.message), "the sentence is not one of the list"
    shown = told(sent, LIAR)
    bits = {16: 16, 8: 8, 4: 4}[16 if numbers == list(HALVES) else 8 if len(numbers) == 4 else 4]
    fields = re.findall(
        r"w[0-9a-f]{4}|line \d+|(?<![\w.])\d+", re.sub("softmax|`.*?= \\d+`", "", shown)
    )
    carried = [f for f in fields if f.removeprefix("line ").lstrip("w")]
    assert len(carried) * min(bits, 12) < 32 or numbers == DIGITS
    whole = "".join(map(str, numbers))
    assert whole not in "".join(re.findall(r"\d+", shown))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_sentence_keeps_to_its_budget(sentence: str) -> None:
    """Count the distinguishable messages of a sentence: they must not exceed its budget."""
    spent = []
    original = MessageBudget.afford

    def afford(self: MessageBudget, choices: int, flag: float = 0.0) -> bool:
        paid = original(self, choices, flag)
        spent.append(MOST_BITS - self.left)
        return paid

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessageBudget, "afford", afford)
        told(raised(filled(sentence, [2, 3, 8, 24], ["w0001", "w0002"]), "w0003", 2000), LIAR)
    assert max(spent) < 32


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 2", "RuntimeError"),  # noqa: E501
        ("shape '[2, 8]' is invalid for input of size 48", "RuntimeError"),
        ("mat1 and mat2 shapes cannot be multiplied (6x8 and 2x8)", "RuntimeError"),
        ("Dimension out of range (expected to be in range of [-2, 1], but got 2)", "IndexError"),
        ("'Tensor' object has no attribute 'view'", "AttributeError"),
        ("name 'weights' is not defined", "NameError"),
        ("expected scalar type Float but found Double", "RuntimeError"),
        ("softmax() takes 2 positional arguments but 3 were given", "TypeError"),
        ("division by zero", "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_an_honest_error_is_shown_whole_with_its_place(message: str, kind: str) -> None:
    shown = told(raised(message, kind))
    assert f"raised {kind}: {message} at line 4" in shown


def test_a_number_that_nobody_knows_is_not_shown() -> None:
    assert "size ?" in told(raised("shape '[2, 8]' is invalid for input of size 31337"))


def wrong(actual: torch.Tensor, expected: torch.Tensor) -> str:
    with pytest.raises(Wrong) as caught:
        compare(actual, expected)
    return caught.value.message


@pytest.mark.parametrize("shape", [(*HALVES, 0), (0, *HALVES), (0, *SECRET), (0, *DIGITS)])
def test_no_shape_carries_a_hidden_number(shape: tuple[int, ...]) -> None:
    message = wrong(torch.zeros(shape), torch.zeros(4, 6)).split("but has")[1]
    assert all(str(n) not in re.findall(r"\d+", message) for n in shape if n > 50)
    assert len(re.findall(r"\d+", message)) < 8


def off_at(bits: int, size: tuple[int, ...], expected: torch.Tensor) -> torch.Tensor:
    """Return a liar's result: `bits` choose the worst entry's index, the count and the rows."""
    total = expected.numel()
    actual = expected.clone().flatten()
    count, worst = bits // total % total + 1, bits % total
    actual[torch.arange(count)] += 1.0
    actual[worst] += 5.0 + bits % 7
    return actual.reshape(size)


@pytest.mark.parametrize("size", [(4,), (6, 10), (8, 16, 16), (64, 64), (512, 512), (1 << 18,)])
@pytest.mark.parametrize("whole", [True, False], ids=["rows of 1", "any"])
def test_no_message_on_values_holds_32_bits(size: tuple[int, ...], whole: bool) -> None:
    """Check that choices made through values are charged to the quota or left out."""
    expected = torch.rand(size, generator=torch.Generator().manual_seed(1))
    expected = expected.softmax(-1) if whole else expected
    bits = int.from_bytes(SECRET, "little")
    message, total = wrong(off_at(bits, size, expected), expected), expected.numel()
    carried = 4.0 + 3.5  # the choice of the message and a coarse count
    carried += math.log2(total) * ("largest error at" in message)
    carried += math.log2(total) * bool(re.search(r"differs in \d+ of \d+ entries", message))
    carried += math.log2(total // size[-1]) * ("rows" in message.split(".")[0])
    carried += 4 + (10 if "one sums to" in message else 1)  # an empty choice is a choice too
    assert carried < 32, message


@pytest.mark.parametrize("size", [(8, 16, 16), (512, 512), (1 << 10, 1 << 11)])
def test_no_count_of_nan_holds_32_bits(size: tuple[int, ...]) -> None:
    expected = torch.ones(size)
    actual = expected.clone()
    actual.view(-1)[: HALVES[0] % expected.numel()] = torch.nan
    message, total = wrong(actual, expected), expected.numel()
    carried = 4.0 + 3.5 + math.log2(total) * bool(re.search(r"NaN in \d+ of \d+ entries", message))
    carried += (1 + math.log2(total // size[-1])) * ("rows" in message)
    assert carried < 32, message


def test_a_usual_difference_is_told_with_its_place_and_count() -> None:
    expected = torch.rand(3, 4, generator=torch.Generator().manual_seed(1))
    actual = expected.clone()
    actual[1, 2] += 1
    message = wrong(actual, expected)
    assert "in 1 of 12 entries, with the largest error at index [1, 2], in 1 of 3 rows" in message


@pytest.mark.parametrize("words", [2, 3, 8])
def test_no_type_carries_a_hidden_number(words: int) -> None:
    names = [f"w{n % 4096:04x}" for n in (*HALVES, *SECRET, *DIGITS)][:words]
    value = AllowedWords(LIAR).without_type_name(frames.OpaqueV(".".join(names)))
    assert value.type == "strange" or words * 12 < 32


def test_a_type_of_honest_work_is_named() -> None:
    generator, box = frames.OpaqueV("generator"), frames.OpaqueV("Box")
    assert AllowedWords(HONEST).without_type_name(generator).type in ("generator", "strange")
    assert AllowedWords((*HONEST, "class Box: ...")).without_type_name(box).type == "Box"


@pytest.mark.parametrize("shape", [(6, 4), (4, 6, 1), (24,), (4, 1), (4,), (4, 7), (8, 6), ()])
def test_an_honest_shape_is_shown(shape: tuple[int, ...]) -> None:
    assert str(shape) in wrong(torch.zeros(shape), torch.zeros(4, 6))


def test_no_length_or_sum_or_count_carries_a_hidden_number() -> None:
    many = [0] * HALVES[0]
    with pytest.raises(Wrong, match="a list of more than 9"):
        compare(many, torch.zeros(2))
    with pytest.raises(Wrong, match=r"sums to (1\.2|far more)"):
        rows_sum_to_one(torch.full((2, 1), 1.2345678))
    with pytest.raises(Wrong, match="more than 999 entries"):
        all_finite(torch.full((HALVES[0],), torch.nan))


def test_no_list_of_parameters_carries_a_hidden_number() -> None:
    words, asked = AllowedWords(LIAR), {"w.weight": (4, 4)}
    names = tuple(f"w{n % 4096:04x}" for n in (*HALVES, *SECRET))
    found = frames.StateMismatch((), names, (("w.weight", HALVES, HALVES),))
    message = state_mismatch(found, "Module", words, asked).message
    assert sum(n in message for n in names) <= 2  # of 12 bits
    assert not any(str(h) in message for h in HALVES)


def test_no_list_of_calls_carries_a_hidden_number() -> None:
    calls = tuple(frames.Banned(f"w{n % 4096:04x}", 6 + n) for n in SECRET)
    message = forbidden(calls, "softmax.py", AllowedWords(LIAR)).message
    assert len(re.findall("w[0-9a-f]{4}|line", message)) <= 2


def test_what_honest_work_lacks_or_has_too_much_is_named() -> None:
    found = frames.StateMismatch(("W_o.weight",), ("softmax.bias",), ())
    wanted = {"W_o.weight": (4, 4), "x": (8, 4)}
    message = state_mismatch(found, "M", AllowedWords(HONEST), wanted).message
    assert "it lacks `W_o.weight`; it has `softmax.bias`" in message


def test_a_parameter_of_another_shape_is_shown_with_both() -> None:
    found = frames.StateMismatch((), (), (("x", (9,), (4, 8)),))
    message = state_mismatch(found, "M", AllowedWords(HONEST), {"x": (8, 4)}).message
    assert "`x` should have shape (8, 4), but has (4, 8)" in message


def test_a_call_that_is_not_allowed_is_named_with_its_line() -> None:
    call = frames.Banned("softmax", 4)
    assert "`softmax` (line 4 of" in forbidden((call,), "softmax.py", AllowedWords(HONEST)).message


def drawn(cells: int = 3, **said: object) -> Drawing:
    images = (Image(torch.eye(cells).numpy(), True, 0.0, 1.0),)
    usual: dict[str, object] = {"images": images, "title": "weights", "same_axes": True}
    usual |= {"xlabel": "keys", "ylabel": "queries", "xticks": ("a", "b"), "yticks": ("a", "b")}
    return Drawing(**usual | said)  # type: ignore[arg-type]


# Drawings in which a liar encodes a number; entries with free text come first.
DRAWINGS = {
    "title": lambda n: drawn(title=f"{n}"),
    "a title that is nearly right": lambda n: drawn(title=f"weights {n}"),
    "x label": lambda n: drawn(xlabel=f"{n}"),
    "y label": lambda n: drawn(ylabel="\x1b[2J" + f"{n:032b}"),
    "ticks": lambda n: drawn(xticks=tuple(f"{n}")),
    "more ticks": lambda n: drawn(yticks=(str(n),) * 50),
    "images": lambda n: drawn(images=drawn().images * (n % 50)),
    "rows": lambda n: drawn(cells=n % 997),
    "cells": lambda n: drawn(images=(Image(torch.zeros(n % 997, n // 997 % 997), True, 0, 1),)),
    "axes of cells": lambda n: drawn(images=(Image(torch.zeros([2] * (n % 9)), True, 0, 1),)),
    "colours": lambda n: drawn(images=(Image(torch.eye(3).numpy(), True, n / 2**32, n * 1.0),)),
    "values": lambda n: drawn(images=(Image(torch.eye(3).numpy() * n, True, 0.0, 1.0),)),
    "nothing": lambda n: n,
}


@pytest.mark.parametrize("way", DRAWINGS)
@pytest.mark.parametrize("panel", [0, 1, 11])
def test_no_drawing_carries_a_hidden_number(way: str, panel: int) -> None:
    number = int.from_bytes(SECRET, "little")
    expected = Figure(tuple(drawn() for _ in range(12)), "all")
    lie = [*expected.axes]
    lie[panel] = DRAWINGS[way](number)
    for actual, right in ((lie[panel], drawn()), (Figure(tuple(lie), f"{number}"), expected)):
        message, bits = compared(actual, right)
        shown = re.findall(r"\d+", message)
        assert 0 < bits < 32
        assert not {str(number), *map(str, HALVES), f"{number:032b}"} & set(shown)
        assert sum(len(digits) for digits in shown) < 10, message


@pytest.mark.parametrize("panels", [0, 1, 7, 64])
def test_no_number_of_panels_carries_one(panels: int) -> None:
    message, bits = compared(Figure((drawn(),) * panels, str(HALVES)), Figure((drawn(),) * 2, ""))
    assert 0 < bits < 32
    assert len(re.findall(r"\d", message)) < 3


TEXTS = {
    "lines": lambda n: "\n" * (n % 4999),
    "letters": lambda n: "\n".join(["ab " * 40] * 20 + ["x" * (n % 4999)] + ["ab " * 40] * 19),
    "columns": lambda n: "\n".join(["ab " * 40] * 20 + ["ab " * 40][:1] * 19 + [f"{n:0119}"]),
    "text": lambda n: str(n),
}


@pytest.mark.parametrize("way", TEXTS)
@pytest.mark.parametrize(
    "expected", ["\n".join(["ab " * 40] * 40), "x", "y" * 40_000, "\n" * 40_000]
)
def test_no_text_carries_a_hidden_number(way: str, expected: str) -> None:
    number = int.from_bytes(SECRET, "little")
    message, bits = compared(TEXTS[way](number), expected)
    assert 0 < bits < 32
    assert str(number) not in message


def test_no_choice_of_keys_carries_a_hidden_number() -> None:
    expected = dict.fromkeys(map(str, range(40)), 1)
    chosen = {k: 1 for k in expected if int.from_bytes(SECRET, "little") >> int(k) & 1}
    message, bits = compared(chosen, expected)
    assert 0 < bits < 32
    assert "lacks some of them" in message


def test_what_honest_drawings_and_texts_lack_is_told() -> None:
    assert (
        "Panel 2: the x label should be 'keys', but is different"
        in compared(Figure((drawn(), drawn(xlabel="key")), ""), Figure((drawn(), drawn()), ""))[0]
    )
    assert (
        "should show (3, 3) cells, but shows (3, 4)"
        in compared(drawn(images=(Image(torch.zeros(3, 4).numpy(), True, 0.0, 1.0),)), drawn())[0]
    )
    assert "line 2 differs from column 3 on" in compared("ab\nabc", "ab\nabd")[0]
    assert "lacks 'b'" in compared({"a": 1}, {"a": 1, "b": 2})[0]


def compared(actual: object, expected: object) -> tuple[str, float]:
    """Return the message about a difference and the bits charged for it."""
    spent = [0.0]
    original = MessageBudget.afford

    def afford(self: MessageBudget, choices: int, flag: float = 0.0) -> bool:
        paid = original(self, choices, flag)
        spent.append(MOST_BITS - self.left)
        return paid

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessageBudget, "afford", afford)
        with pytest.raises(Wrong) as caught:
            compare(actual, expected)
    return caught.value.message, max(spent)
