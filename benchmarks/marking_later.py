"""Scores beside marks by hand in weeks 4 to 7: thirty more wrong programs, each a changed solution.

The marks are percent off, written by the rubric below before any of the programs was graded: the
central idea is wrong 50; an axis, an order or a formula 40; a scale, a sign, a direction or a bound
that shows everywhere 30; an edge (the first, the last, the refused) 10 to 20; a gradient cut 25; a
mode left changed 15; precision 10.

    python -m benchmarks.marking_later
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from .marking import Program, print_marks


class Change(NamedTuple):
    """What is wrong, the percent that a marker takes off, and the change that makes it so."""

    exercise: str
    mistake: str
    off: int
    old: str
    new: str


CHANGES: dict[str, tuple[Change, ...]] = {
    "week04_lsh": (
        Change(
            "hash_vectors",
            "negatives first",
            20,
            "torch.cat([rotated, -rotated]",
            "torch.cat([-rotated, rotated]",
        ),
        Change(
            "sort_by_bucket",
            "largest bucket first",
            25,
            "argsort(dim=-1, stable=True)",
            "argsort(dim=-1, stable=True, descending=True)",
        ),
        Change(
            "sort_by_bucket",
            "the order for its inverse",
            50,
            "return order, order.argsort(dim=-1)",
            "return order, order",
        ),
        Change(
            "combine_rounds", "softmax over positions", 40, ".softmax(dim=-2)", ".softmax(dim=-1)"
        ),
        Change(
            "combine_rounds",
            "cuts the gradient",
            25,
            "logits = logsumexps.to(dtype)",
            "logits = logsumexps.detach().to(dtype)",
        ),
        Change(
            "lsh_attention",
            "causal the wrong way round",
            30,
            "(_look_back(positions).transpose(-2, -1) <= positions)",
            "(_look_back(positions).transpose(-2, -1) >= positions)",
        ),
        Change("lsh_attention", "attends to itself", 20, "scores - 1e5, scores", "scores, scores"),
        Change(
            "attention_memory",
            "forgets the look back",
            30,
            "seq_len * 2 * bucket_size",
            "seq_len * bucket_size",
        ),
    ),
    "week05_transformer": (
        Change(
            "sinusoidal_positions",
            "cosines first",
            30,
            "[angles.sin(), angles.cos()]",
            "[angles.cos(), angles.sin()]",
        ),
        Change(
            "TransformerBlock",
            "no second residual",
            40,
            "return x + self.ff(self.ln2(x))",
            "return self.ff(self.ln2(x))",
        ),
        Change(
            "MiniTransformer",
            "no positions",
            40,
            "self.embed(ids) + self.positions[:tokens]",
            "self.embed(ids)",
        ),
        Change(
            "MiniTransformer",
            "refuses max_len itself",
            10,
            "tokens > self.max_len",
            "tokens >= self.max_len",
        ),
        Change("fit", "gradients pile up", 40, "        optimiser.zero_grad()\n", ""),
        Change(
            "fit",
            "rounds the losses",
            10,
            "losses.append(loss.item())",
            "losses.append(round(loss.item(), 2))",
        ),
        Change(
            "generate",
            "temperature upside down",
            30,
            "torch.softmax(logits / temperature",
            "torch.softmax(logits * temperature",
        ),
        Change(
            "generate",
            "shows the beginning",
            30,
            "ids[:, -model.max_len :]",
            "ids[:, : model.max_len]",
        ),
        Change(
            "generate",
            "leaves evaluation mode on",
            15,
            "            ids = torch.cat([ids, chosen], dim=1)\n    model.train(was_training)\n",
            "            ids = torch.cat([ids, chosen], dim=1)\n",
        ),
    ),
    "week06_beyond": (
        Change(
            "sparsemax",
            "support test without 1 +",
            40,
            "(1 + rank * ordered > total)",
            "(rank * ordered >= total)",
        ),
        Change(
            "entmax15",
            "forgets to halve",
            40,
            "z = _wide(x).movedim(dim, -1) / 2",
            "z = _wide(x).movedim(dim, -1)",
        ),
        Change(
            "relative_attention",
            "distances the other way round",
            30,
            "(key_place - query_place)",
            "(query_place - key_place)",
        ),
        Change(
            "rotary",
            "positions from one",
            20,
            "positions = torch.arange(x.shape[-2], device=x.device)",
            "positions = torch.arange(1, x.shape[-2] + 1, device=x.device)",
        ),
        Change("favor_features", "the whole norm", 40, "- norms / 2", "- norms"),
        Change(
            "performer_attention",
            "does not divide",
            40,
            "return (output / weight).to(q.dtype)",
            "return output.to(q.dtype)",
        ),
        Change(
            "keras_attention",
            "no scale",
            30,
            "ops.swapaxes(k, -2, -1)) / math.sqrt(q.shape[-1])",
            "ops.swapaxes(k, -2, -1))",
        ),
        Change(
            "additive_attention",
            "relu for tanh",
            40,
            "hidden = torch.tanh(",
            "hidden = torch.relu(",
        ),
        Change(
            "sentence_attention",
            "leaves evaluation mode on",
            15,
            "        model.train(was_training)\n    return tokens",
            "    return tokens",
        ),
    ),
    "week07_flash": (
        Change(
            "online_softmax",
            "does not rescale",
            50,
            "new_total + total * torch.exp(maximum - shift)",
            "new_total + total",
        ),
        Change(
            "tiled_attention",
            "cannot see itself",
            30,
            "key_positions > query_positions",
            "key_positions >= query_positions",
        ),
        Change(
            "tiled_attention",
            "logsumexp without the maximum",
            30,
            "(maximum + torch.log(total))",
            "torch.log(total)",
        ),
        Change(
            "FlashAttention",
            "no correction",
            50,
            "weights * (grad_weights - correction)",
            "weights * grad_weights",
        ),
    ),
}


def _changed(change: Change, solution: str) -> str:
    if solution.count(change.old) != 1:
        raise RuntimeError(f"{change.exercise}: {change.old!r} does not stand there once")
    return solution.replace(change.old, change.new)


def main() -> None:
    print_marks(
        [
            Program(
                week,
                change.exercise,
                change.mistake,
                1 - change.off / 100,
                partial(_changed, change),
            )
            for week, changes in CHANGES.items()
            for change in changes
        ]
    )


if __name__ == "__main__":
    main()
