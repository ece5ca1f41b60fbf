"""Compare scores with manual marks in weeks 4 to 7, as `benchmarks.marking` does.

    python -m benchmarks.marking_later

Each of the thirty wrong programs is the solution with one change. The deduction for each change, in
percent of the points, was fixed before any program was graded, by this rubric:

- 50: the central idea is wrong
- 40: wrong axis, order or formula
- 30: wrong scale, sign, direction or bound that affects all results
- 25: detached gradient
- 15: mode of the model not restored
- 10 to 20: wrong edge case (first element, last element, or input that must be rejected)
- 10: loss of precision
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from .marking import Program, print_marks


class Change(NamedTuple):
    """A change of the solution that introduces a mistake.

    off:      deduction in percent
    old, new: the text to replace, which occurs once in the solution, and its replacement
    """

    exercise: str
    mistake: str
    off: int
    old: str
    new: str


CHANGES: dict[str, tuple[Change, ...]] = {
    "week04_lsh": (
        Change(
            "hash_vectors",
            "negated projections first",
            20,
            "torch.cat([rotated, -rotated]",
            "torch.cat([-rotated, rotated]",
        ),
        Change(
            "sort_by_bucket",
            "sorts buckets in descending order",
            25,
            "argsort(dim=-1, stable=True)",
            "argsort(dim=-1, stable=True, descending=True)",
        ),
        Change(
            "sort_by_bucket",
            "returns the order as its inverse",
            50,
            "return order, order.argsort(dim=-1)",
            "return order, order",
        ),
        Change(
            "combine_rounds", "softmax over positions", 40, ".softmax(dim=-2)", ".softmax(dim=-1)"
        ),
        Change(
            "combine_rounds",
            "detaches the gradient",
            25,
            "logits = logsumexps.to(dtype)",
            "logits = logsumexps.detach().to(dtype)",
        ),
        Change(
            "lsh_attention",
            "inverts the causal mask",
            30,
            "(_look_back(positions).transpose(-2, -1) <= positions)",
            "(_look_back(positions).transpose(-2, -1) >= positions)",
        ),
        Change("lsh_attention", "attends to itself", 20, "scores - 1e5, scores", "scores, scores"),
        Change(
            "attention_memory",
            "ignores the look-back chunk",
            30,
            "seq_len * 2 * bucket_size",
            "seq_len * bucket_size",
        ),
    ),
    "week05_transformer": (
        Change(
            "sinusoidal_positions",
            "swaps sines and cosines",
            30,
            "[angles.sin(), angles.cos()]",
            "[angles.cos(), angles.sin()]",
        ),
        Change(
            "TransformerBlock",
            "no second residual connection",
            40,
            "return x + self.ff(self.ln2(x))",
            "return self.ff(self.ln2(x))",
        ),
        Change(
            "MiniTransformer",
            "no positional encoding",
            40,
            "self.embed(ids) + self.positions[:tokens]",
            "self.embed(ids)",
        ),
        Change(
            "MiniTransformer",
            "rejects length max_len",
            10,
            "tokens > self.max_len",
            "tokens >= self.max_len",
        ),
        Change(
            "fit", "gradients accumulate across steps", 40, "        optimiser.zero_grad()\n", ""
        ),
        Change(
            "fit",
            "rounds the losses",
            10,
            "losses.append(loss.item())",
            "losses.append(round(loss.item(), 2))",
        ),
        Change(
            "generate",
            "multiplies by the temperature",
            30,
            "torch.softmax(logits / temperature",
            "torch.softmax(logits * temperature",
        ),
        Change(
            "generate",
            "keeps the first tokens",
            30,
            "ids[:, -model.max_len :]",
            "ids[:, : model.max_len]",
        ),
        Change(
            "generate",
            "stays in evaluation mode",
            15,
            "            ids = torch.cat([ids, chosen], dim=1)\n    model.train(was_training)\n",
            "            ids = torch.cat([ids, chosen], dim=1)\n",
        ),
    ),
    "week06_beyond": (
        Change(
            "sparsemax",
            "support condition without 1 +",
            40,
            "(1 + rank * ordered > total)",
            "(rank * ordered >= total)",
        ),
        Change(
            "entmax15",
            "does not halve the input",
            40,
            "z = _wide(x).movedim(dim, -1) / 2",
            "z = _wide(x).movedim(dim, -1)",
        ),
        Change(
            "relative_attention",
            "inverts the sign of distances",
            30,
            "(key_place - query_place)",
            "(query_place - key_place)",
        ),
        Change(
            "rotary",
            "positions start at 1",
            20,
            "positions = torch.arange(x.shape[-2], device=x.device)",
            "positions = torch.arange(1, x.shape[-2] + 1, device=x.device)",
        ),
        Change("favor_features", "does not halve the norm", 40, "- norms / 2", "- norms"),
        Change(
            "performer_attention",
            "does not normalise",
            40,
            "return (output / weight).to(q.dtype)",
            "return output.to(q.dtype)",
        ),
        Change(
            "keras_attention",
            "no scaling",
            30,
            "ops.swapaxes(k, -2, -1)) / math.sqrt(q.shape[-1])",
            "ops.swapaxes(k, -2, -1))",
        ),
        Change(
            "additive_attention",
            "ReLU instead of tanh",
            40,
            "hidden = torch.tanh(",
            "hidden = torch.relu(",
        ),
        Change(
            "sentence_attention",
            "stays in evaluation mode",
            15,
            "        model.train(was_training)\n    return tokens",
            "    return tokens",
        ),
    ),
    "week07_flash": (
        Change(
            "online_softmax",
            "does not rescale the sum",
            50,
            "new_total + total * torch.exp(maximum - shift)",
            "new_total + total",
        ),
        Change(
            "tiled_attention",
            "masks the diagonal",
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
            "no correction term",
            50,
            "weights * (grad_weights - correction)",
            "weights * grad_weights",
        ),
    ),
}


def _changed(change: Change, solution: str) -> str:
    if solution.count(change.old) != 1:
        raise RuntimeError(f"{change.exercise}: {change.old!r} must occur once in the solution")
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
