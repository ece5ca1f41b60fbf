"""Test wrappers that let code without some feature pass the tests of its other features."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from autograder.repair import adapt
from autograder.repair.adapters import AXES, IN_PLACE, LENGTH, MEMORY, TYPES, WIDTH

ATTENTION = """import torch


def attention(q, k, v, mask=None):
    {first}
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    {then}
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, -1)
    return weights @ v, weights
"""
FORWARD = f"""{ATTENTION.format(first="b, n, d = q.shape", then="pass")}

class Attend(torch.nn.Module):
    def forward(self, q, k, v):
        return attention(q, k, v)[0]


class Apply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        ctx.n = q.shape[1]
        return attention(q, k, v)[0]

    @staticmethod
    def backward(ctx, dout):
        return dout, dout, dout
"""


def given(*shape: int, wide: int = 0, long: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    q = torch.randn(*shape, generator=generator)
    k = torch.randn(*shape[:-2], long or shape[-2], shape[-1], generator=generator)
    v = torch.randn(*k.shape[:-1], wide or shape[-1], generator=generator)
    return [q, k, v]


def wrapped(text: str, kind: str, count: int = 0, name: str = "attention") -> Callable[..., object]:
    (change,) = adapt(text, name, [(kind, count)])
    module: dict[str, Callable[..., object]] = {}
    exec(change.applied(text.encode()).decode(), module)  # trusted: the text is in this file
    return module[name]


def written(first: str = "pass", then: str = "pass") -> str:
    return ATTENTION.format(first=first, then=then)


@pytest.mark.parametrize(
    ("kind", "count", "text", "arguments"),
    [
        (AXES, 3, written("b, n, d = q.shape"), given(3, 4)),
        (AXES, 3, written("b, n, d = q.shape"), given(2, 5, 3, 4)),
        (AXES, 4, written("b, h, n, d = q.shape"), given(2, 3, 4)),
        (AXES, 2, written("n, d = q.shape"), given(1, 1, 3, 4)),
        (
            WIDTH,
            0,
            written(then="torch.zeros_like(q) + torch.softmax(scores, -1) @ v"),
            given(3, 4),
        ),
        (WIDTH, 0, written("q + v"), given(3, 4, wide=9)),
        (WIDTH, 0, written("q + v"), given(2, 3, 4, wide=2)),
        (LENGTH, 0, written(then="scores + scores.transpose(-2, -1)"), given(3, 4, long=7)),
        (LENGTH, 0, written(then="scores + scores.transpose(-2, -1)"), given(7, 4, long=3)),
        (MEMORY, 0, written("q.view(-1)"), [x.mT for x in given(4, 4)]),
        (IN_PLACE, 0, written("q *= 1"), given(3, 4)),
    ],
)
def test_what_was_kept_away_comes_out_right(
    kind: str, count: int, text: str, arguments: list[torch.Tensor]
) -> None:
    q, k, v = (a.clone() if kind == IN_PLACE else a for a in arguments)
    out, weights = wrapped(text, kind, count)(q, k, v)  # type: ignore[misc]
    right = torch.nn.functional.scaled_dot_product_attention(*arguments)
    assert torch.allclose(out, right, atol=1e-5)
    assert weights.shape == (*arguments[0].shape[:-1], arguments[1].shape[-2])
    if kind == IN_PLACE:
        assert torch.equal(q, arguments[0])


def test_a_mask_of_rows_is_cut_with_the_queries() -> None:
    q, k, v = given(7, 4, long=3)
    mask = torch.ones(7, 3, dtype=torch.bool).tril(2)
    right = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    text = written(then="scores + scores.transpose(-2, -1)")
    out, _ = wrapped(text, LENGTH)(q, k, v, mask=mask)  # type: ignore[misc]
    assert torch.allclose(out, right, atol=1e-5)


def test_halves_are_seen_as_float32_and_come_back_as_halves() -> None:
    q, k, v = (x.half() for x in given(3, 4))
    text = written("q = q @ torch.eye(4)")
    with pytest.raises(RuntimeError):
        wrapped(written("q = q @ torch.eye(4)"), MEMORY)(q, k, v)
    out, weights = wrapped(text, TYPES)(q, k, v)  # type: ignore[misc]
    assert (out.dtype, weights.dtype) == (torch.float16, torch.float16)


@pytest.mark.parametrize("name", ["Attend", "Apply"])
def test_modules_and_functions_of_autograd_can_be_wrapped(name: str) -> None:
    made = wrapped(FORWARD, AXES, 3, name)
    call = made() if name == "Attend" else made.apply  # type: ignore[attr-defined]
    q, k, v = given(2, 5, 3, 4)
    right = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert torch.allclose(call(q, k, v), right, atol=1e-5)  # type: ignore[operator]


def test_one_wrapper_fits_around_another() -> None:
    text = written("b, n, d = q.shape; q + v")
    axes, width = adapt(text, "attention", [(AXES, 3), (WIDTH, 0)])
    both = axes.joined(width)
    assert both is not None
    module: dict[str, Callable[..., tuple[torch.Tensor, ...]]] = {}
    exec(both.applied(text.encode()).decode(), module)
    q, k, v = given(2, 5, 3, 4, wide=6)
    right = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert torch.allclose(module["attention"](q, k, v)[0], right, atol=1e-5)


@pytest.mark.parametrize("text", ["def attention(:", "x = 1"])
def test_nothing_is_wrapped_that_is_not_there(text: str) -> None:
    assert not [*adapt(text, "attention", [(AXES, 3)])]
