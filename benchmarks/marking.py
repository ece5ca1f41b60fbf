"""Compare scores with manual marks, for `scoring: {by: tests}` and `{by: mistakes}`.

    python -m benchmarks.marking

The thirty wrong programs for five exercises of weeks 1 to 3 were written without the bank. Before
any of them was graded, a rubric was fixed (`RUBRIC`, the percentage deducted for each mistake), and
each program was marked with it (`MARKED`). The output has one row per program: its mark and its
scores by both rules, in points, followed by the mean absolute difference for each rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, get_args

import msgspec

from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import load

from .measure import ROOT

_SECRET = b"marks by hand need no secret"  # seed of the hidden inputs
By = Literal["tests", "mistakes"]

RUBRIC: dict[str, dict[str, int]] = {
    "softmax": {
        "does not subtract the maximum": 50,
        "one maximum for the whole tensor": 25,
        "wrong axis": 50,
        "maximum along the wrong axis": 30,
        "modifies its input": 20,
        "returns a different dtype": 10,
        "detaches the gradient": 30,
        "adds an epsilon": 10,
        "forgets keepdim": 50,
    },
    "scaled_dot_product_attention": {
        "no scaling": 40,
        "wrong scale": 30,
        "normalises over the queries": 50,
        "transposes all axes": 25,
        "returns scores instead of weights": 25,
        "swaps queries and keys": 50,
        "detaches the gradient": 30,
    },
    "masked_softmax": {
        "inverts the mask": 40,
        "NaN in fully masked rows": 40,
        "masks with -1e9 in float16": 25,
        "masked weights are not exactly zero": 20,
        "rows do not sum to one": 40,
        "nonzero weights in fully masked rows": 30,
        "ignores dim": 30,
    },
    "MultiHeadAttention": {
        "no output projection": 25,
        "splits heads without transposing": 40,
        "scales by d_model": 20,
        "no scaling": 30,
        "ignores the mask": 25,
        "value defaults to the query": 10,
        "accepts 3-D masks": 10,
        "accepts an indivisible d_model": 10,
        "averages the weights over heads": 15,
        "NaN in fully masked rows": 15,
    },
    "CausalSelfAttention": {
        "no causal mask": 50,
        "masks the diagonal": 30,
        "applies dropout in evaluation mode": 20,
        "returns weights after dropout": 15,
        "wrong order of q, k, v": 25,
        "merges heads without transposing": 40,
        "mask stays on the CPU": 15,
        "bias in the projection": 15,
        "never applies dropout": 20,
    },
}

BASES: dict[str, tuple[str, str]] = {
    "softmax": (
        "week01_softmax",
        """
def softmax(x, dim=-1):
    top = x.amax(dim, keepdim=True)
    parts = (x - top).exp()
    whole = parts.sum(dim, keepdim=True)
    return parts / whole
""",
    ),
    "scaled_dot_product_attention": (
        "week01_softmax",
        """
def scaled_dot_product_attention(q, k, v):
    d = k.shape[-1]
    scores = torch.matmul(q, k.transpose(-1, -2))
    scores = scores / math.sqrt(d)
    weights = softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
""",
    ),
    "masked_softmax": (
        "week02_masking",
        """
def masked_softmax(scores, mask, dim=-1):
    low = torch.finfo(scores.dtype).min
    filled = torch.where(mask, scores, low)
    weights = torch.softmax(filled, dim=dim)
    weights = weights.masked_fill(~mask, 0.0)
    return weights
""",
    ),
    "MultiHeadAttention": (
        "week03_multihead",
        """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} cannot be cut into {num_heads}")
        self.H, self.d = num_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def cut(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.H, self.d).transpose(1, 2)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of {mask.dim()} axes, shape {tuple(mask.shape)}")
        q, k, v = self.cut(self.W_q(query)), self.cut(self.W_k(key)), self.cut(self.W_v(value))
        scores = q @ k.mT / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        out = (weights @ v).transpose(1, 2).flatten(2)
        return self.W_o(out), weights
""",
    ),
    "CausalSelfAttention": (
        "week03_multihead",
        """
class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} cannot be cut into {n_heads}")
        self.H, self.p = n_heads, dropout
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, return_weights=False):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.reshape(B, T, self.H, C // self.H).transpose(1, 2)
        k = k.reshape(B, T, self.H, C // self.H).transpose(1, 2)
        v = v.reshape(B, T, self.H, C // self.H).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // self.H)
        seen = torch.ones(T, T, device=x.device).tril() > 0
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
        kept = nn.functional.dropout(weights, self.p, self.training)
        out = (kept @ v).transpose(1, 2).reshape(B, T, C)
        y = self.proj(out)
        return (y, weights) if return_weights else y
""",
    ),
}


@dataclass(frozen=True)
class Marked:
    """A wrong program, as replacements in the correct program, and its mistakes in `RUBRIC`."""

    exercise: str
    edits: tuple[tuple[str, str], ...]
    mistakes: tuple[str, ...]

    @property
    def text(self) -> str:
        text = BASES[self.exercise][1]
        for old, new in self.edits:
            assert old in text, old
            text = text.replace(old, new)
        return text

    @property
    def mark(self) -> float:
        """The share of the points that the rubric awards, between 0 and 1."""
        return max(0, 100 - sum(RUBRIC[self.exercise][m] for m in self.mistakes)) / 100


def _marked(exercise: str, mistakes: str, *edits: tuple[str, str]) -> Marked:
    return Marked(exercise, edits, tuple(mistakes.split("; ")))


_SOFTMAX, _ATTENTION = "softmax", "scaled_dot_product_attention"
_MASKED, _HEADS, _CAUSAL = "masked_softmax", "MultiHeadAttention", "CausalSelfAttention"
MARKED = (
    _marked(_SOFTMAX, "does not subtract the maximum", ("(x - top)", "x")),
    _marked(_SOFTMAX, "one maximum for the whole tensor", ("x.amax(dim, keepdim=True)", "x.max()")),
    _marked(_SOFTMAX, "wrong axis", ("parts.sum(dim, ", "parts.sum(0, ")),
    _marked(_SOFTMAX, "adds an epsilon", ("/ whole", "/ (whole + 1e-8)")),
    _marked(
        _SOFTMAX,
        "detaches the gradient; maximum along the wrong axis",
        ("x.amax(dim, keepdim=True)", "x.amax(-1, keepdim=True)"),
        ("(x - top).exp()", "(x - top).detach().exp()"),
    ),
    _marked(_SOFTMAX, "forgets keepdim", ("parts.sum(dim, keepdim=True)", "parts.sum(dim)")),
    _marked(_ATTENTION, "no scaling", ("scores / math.sqrt(d)", "scores")),
    _marked(_ATTENTION, "wrong scale", ("math.sqrt(d)", "d")),
    _marked(_ATTENTION, "normalises over the queries", ("dim=-1)", "dim=-2)")),
    _marked(
        _ATTENTION,
        "no scaling; returns scores instead of weights",
        ("scores / math.sqrt(d)", "scores"),
        ("v), weights", "v), scores"),
    ),
    _marked(
        _ATTENTION,
        "transposes all axes",
        ("k.transpose(-1, -2)", "k.permute(*range(k.ndim)[::-1])"),
    ),
    _marked(_ATTENTION, "detaches the gradient", ("softmax(scores,", "softmax(scores.detach(),")),
    _marked(
        _MASKED,
        "inverts the mask",
        ("where(mask, scores, low)", "where(mask, low, scores)"),
        ("~mask, 0.0", "mask, 0.0"),
    ),
    _marked(
        _MASKED,
        "NaN in fully masked rows",
        ("torch.finfo(scores.dtype).min", 'float("-inf")'),
        ("    weights = weights.masked_fill(~mask, 0.0)\n", ""),
    ),
    _marked(_MASKED, "masks with -1e9 in float16", ("torch.finfo(scores.dtype).min", "-1e9")),
    _marked(
        _MASKED,
        "nonzero weights in fully masked rows",
        ("    weights = weights.masked_fill(~mask, 0.0)\n", ""),
    ),
    _marked(_MASKED, "rows do not sum to one", ("torch.where(mask, scores, low)", "scores")),
    _marked(
        _MASKED,
        "ignores dim; nonzero weights in fully masked rows",
        ("dim=dim", "dim=-1"),
        ("    weights = weights.masked_fill(~mask, 0.0)\n", ""),
    ),
    _marked(_HEADS, "no output projection", ("self.W_o(out)", "out")),
    _marked(
        _HEADS,
        "splits heads without transposing",
        (
            "self.H, self.d).transpose(1, 2)",
            "self.H, self.d).reshape(x.shape[0], self.H, -1, self.d)",
        ),
    ),
    _marked(_HEADS, "scales by d_model", ("math.sqrt(self.d)", "math.sqrt(self.H * self.d)")),
    _marked(
        _HEADS,
        "averages the weights over heads; accepts 3-D masks",
        ("self.W_o(out), weights", "self.W_o(out), weights.mean(1)"),
        ("mask.dim() == 3", "mask.dim() == 5"),
    ),
    _marked(_HEADS, "value defaults to the query", ("value = key if", "value = query if")),
    _marked(
        _HEADS,
        "no scaling; accepts an indivisible d_model",
        (" / math.sqrt(self.d)", ""),
        ("if d_model % num_heads != 0:", "if num_heads < 1:"),
    ),
    _marked(_CAUSAL, "no causal mask", ("scores.masked_fill(~seen, -torch.inf)", "scores")),
    _marked(
        _CAUSAL, "applies dropout in evaluation mode", ("self.p, self.training", "self.p, True")
    ),
    _marked(_CAUSAL, "returns weights after dropout", ("(y, weights)", "(y, kept)")),
    _marked(_CAUSAL, "wrong order of q, k, v", ("q, k, v = self.qkv", "k, v, q = self.qkv")),
    _marked(
        _CAUSAL, "merges heads without transposing", ("v).transpose(1, 2).reshape", "v).reshape")
    ),
    _marked(
        _CAUSAL,
        "mask stays on the CPU; bias in the projection",
        ("torch.ones(T, T, device=x.device)", "torch.ones(T, T)"),
        ("3 * d_model, bias=False", "3 * d_model"),
    ),
)


class Program(NamedTuple):
    """A wrong program with its manual mark.

    mistakes: description of the mistakes
    mark:     share of the points that the marker awarded, between 0 and 1
    source:   function that returns the submission for the week's solution
    """

    week: str
    exercise: str
    mistakes: str
    mark: float
    source: Callable[[str], str]


def scores(engine: Engine, name: str, source: str) -> dict[By, tuple[float, float]]:
    """Grade exercise `name` of a submission; return its points and maximum points, by rule."""
    found: dict[By, tuple[float, float]] = {}
    for by in get_args(By):
        engine.judge.rule = msgspec.structs.replace(engine.judge.rule, by=by)
        report = engine.grade("student", {engine.week.module: source.encode()}, name)
        exercise = next(e for e in report.exercises if e.name == name)
        found[by] = exercise.score, exercise.max_score
    return found


def print_marks(programs: Sequence[Program]) -> None:
    """Grade all programs, and print a table of marks and scores."""
    course = load(ROOT)
    apart: dict[By, list[float]] = {by: [] for by in get_args(By)}
    print("| exercise | mistakes | manual mark | by tests | by mistakes |")
    print("| --- | --- | --- | --- | --- |")
    for week in dict.fromkeys(program.week for program in programs):
        devices = ("cpu", "fake-gpu")
        engine = warm_engine(course, course.week(week), devices, _SECRET, None)
        for program in (p for p in programs if p.week == week):
            found = scores(engine, program.exercise, program.source(engine.bank.solution))
            by_hand = program.mark * found["tests"][1]
            for by, (points, _) in found.items():
                apart[by].append(abs(points - by_hand))
            row = " | ".join(f"{found[by][0]:.2f}" for by in apart)
            print(
                f"| {program.exercise} | {program.mistakes} | {by_hand:.2f} | {row} |", flush=True
            )
        engine.close()
    for by, points in apart.items():
        print(f"\nby {by}: mean absolute difference {sum(points) / len(points):.3f} points")


def _after_the_solution(text: str, solution: str) -> str:
    return f"{solution}\n\n{text}"


def main() -> None:
    print_marks(
        [
            Program(
                BASES[marked.exercise][0],
                marked.exercise,
                ", ".join(marked.mistakes),
                marked.mark,
                partial(_after_the_solution, marked.text),
            )
            for marked in MARKED
        ]
    )


if __name__ == "__main__":
    main()
