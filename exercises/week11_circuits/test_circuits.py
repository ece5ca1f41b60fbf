"""Public checks for week 11: small examples with known answers. Run them with `pytest`."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def rounded(x):
    return [round(value, 4) + 0.0 for value in x.flatten().tolist()]


def close(found, expected):
    return found.shape == expected.shape and torch.allclose(found, expected, atol=1e-4)


class Made(TorchDispatchMode):
    """Record the number of elements of the largest new tensor."""

    largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            self.largest = max(self.largest, out.numel())
        return out


def test_repeated_tokens_by_hand():
    from circuits import repeated_tokens

    ids = repeated_tokens(3, 4, 50, 3, torch.Generator().manual_seed(7))
    assert ids.shape == (3, 12), f"(B, repeats·period) is (3, 12), not {tuple(ids.shape)}"
    assert ids.dtype == torch.int64, f"ids are int64, not {ids.dtype}"
    first = ids[:, :4]
    for start in (4, 8):
        assert torch.equal(ids[:, start : start + 4], first), (
            f"the tokens from {start} on should be those of the first period: {ids[0].tolist()}"
        )
    expected = torch.randint(50, (3, 4), generator=torch.Generator().manual_seed(7))
    assert torch.equal(first, expected), (
        f"one torch.randint call with the generator gives {expected[0].tolist()}, "
        f"not {first[0].tolist()}"
    )
    assert repeated_tokens(2, 5, 9).shape == (2, 10), "by default, there are two periods"


@pytest.mark.parametrize(("period", "repeats", "number"), [(0, 2, "0"), (3, -1, "-1")])
def test_repeated_tokens_refuses(period, repeats, number):
    from circuits import repeated_tokens

    with pytest.raises(ValueError, match=number):
        repeated_tokens(2, period, 9, repeats)


def test_previous_token_score_by_hand():
    from circuits import previous_token_score

    weights = torch.tensor(
        [
            [[[1.0, 0, 0], [0.9, 0.1, 0], [0.2, 0.5, 0.3]]],
            [[[1.0, 0, 0], [0.6, 0.4, 0], [0.7, 0.2, 0.1]]],
        ]
    ).expand(2, 2, 3, 3)
    found = previous_token_score(weights)
    assert found.shape == (2,), f"one score per head: (2,), not {tuple(found.shape)}"
    assert rounded(found) == [0.55, 0.55], (
        f"the previous tokens get 0.9, 0.5, 0.6 and 0.2, with the mean 0.55, not {rounded(found)}"
    )
    with pytest.raises(ValueError, match="1"):
        previous_token_score(torch.ones(2, 3, 1, 1))


def test_induction_score_by_hand():
    from circuits import induction_score

    a, b, c, d = 5, 3, 8, 6
    weights = torch.zeros(2, 1, 6, 6)
    weights[0, 0, 0, 0] = 1
    weights[0, 0, 1] = torch.tensor([0.4, 0.6, 0, 0, 0, 0])
    weights[0, 0, 2] = torch.tensor([0.1, 0.7, 0.2, 0, 0, 0])
    weights[0, 0, 3] = torch.tensor([0.2, 0.1, 0.3, 0.4, 0, 0])
    weights[0, 0, 4] = torch.tensor([0.1, 0.2, 0.1, 0.5, 0.1, 0])
    weights[0, 0, 5] = torch.tensor([0.1, 0.2, 0.1, 0.2, 0.1, 0.3])
    weights[1] = weights[0]
    found = induction_score(weights, torch.tensor([[a, b, a, c, a, d], [a, b, c, d, 1, 2]]))
    assert found.shape == (1,), f"one score per head: (1,), not {tuple(found.shape)}"
    assert rounded(found) == [0.7], (
        "tokens a b a c a d: position 2 has the match 1 (0.7), position 4 the matches 1 and 3 "
        "(0.2 + 0.5). No other query has a match, in either sequence. "
        f"The mean is 0.7, not {rounded(found)}"
    )


def test_induction_score_averages_queries():
    from circuits import induction_score

    weights = torch.eye(4).expand(2, 1, 4, 4)
    ids = torch.tensor([[7, 7, 7, 1], [2, 3, 4, 3]])
    found = rounded(induction_score(weights, ids))
    assert found == [0.6667], (
        "every query attends to itself. In 7 7 7 1, the positions 1 and 2 are matches of their own "
        "queries, because a copy comes just before; in 2 3 4 3, the match of the last query is "
        f"position 2. So 2 of the 3 queries with a match have the sum 1: 0.6667, not {found}"
    )
    with pytest.raises(ValueError):  # noqa: PT011 -- any message
        induction_score(torch.eye(3).expand(1, 1, 3, 3), torch.tensor([[1, 2, 3]]))


def test_logit_attribution_by_hand():
    from circuits import logit_attribution

    terms = torch.tensor([[[[1.0, 0.0], [1.0, 1.0]]], [[[0.0, 2.0], [-1.0, 3.0]]]])
    unembed = torch.tensor([[10.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    found = logit_attribution(terms, unembed, torch.tensor([[0, 2]]))
    assert found.shape == (2, 1, 2), f"(N, B, T) is (2, 1, 2), not {tuple(found.shape)}"
    assert rounded(found) == [10, 4, 0, 4], (
        "the first term adds 10 and 4 to the logits of the tokens 0 and 2, the second 0 and 4, "
        f"not {rounded(found)}"
    )
    found = rounded(
        logit_attribution(terms, unembed, torch.tensor([[0, 2]]), torch.tensor([[1, 0]]))
    )
    assert found == [10, -6, -2, 14], (
        f"logits of the tokens 0 and 2 minus those of 1 and 0: [10, -6, -2, 14], not {found}"
    )


def test_logit_attribution_sums_to_logits():
    from circuits import logit_attribution

    terms, unembed = random(5, 2, 3, 4), random(9, 4, seed=1)
    targets = torch.tensor([[1, 8, 0], [4, 4, 2]])
    logits = (terms.sum(0) @ unembed.T).gather(-1, targets[..., None])[..., 0]
    assert close(logit_attribution(terms, unembed, targets).sum(0), logits), (
        "the contributions should sum to the logits of the targets"
    )


def test_logit_attribution_makes_no_logits():
    from circuits import logit_attribution

    terms, unembed = random(6, 2, 4, 3), random(500, 3)
    targets = torch.zeros(2, 4, dtype=torch.int64)
    with Made() as made:
        logit_attribution(terms, unembed, targets)
    assert made.largest < 6 * 2 * 4 * 500 / 4, (
        "a tensor has an element for every token of the vocabulary: only the targets' are needed"
    )


def test_qk_circuit_by_hand():
    from circuits import qk_circuit

    queries = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    keys = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    W_Q = torch.eye(4, 3)
    W_K = torch.tensor([[0.0, 0, 6], [8, 0, 0], [0, 0, 0], [0, 0, 0]])
    found = qk_circuit(queries, keys, W_Q, W_K)
    assert found.shape == (2, 3), f"(N, M) is (2, 3), not {tuple(found.shape)}"
    assert rounded(found) == [3, 0, 0, 0, 4, 0], (
        "query 0 matches key 0 and query 1 key 1. With d = 4, the scores 6 and 8 are divided by 2: "
        f"[3, 0, 0, 0, 4, 0], not {rounded(found)}"
    )


def test_qk_circuit_of_heads():
    from circuits import qk_circuit

    queries, keys = random(5, 6), random(4, 6, seed=1)
    W_Q, W_K = random(3, 2, 6, seed=2), random(3, 2, 6, seed=3)
    found = qk_circuit(queries, keys, W_Q, W_K)
    assert found.shape == (3, 5, 4), f"(H, N, M) is (3, 5, 4), not {tuple(found.shape)}"
    for head in range(3):
        q = nn.functional.linear(queries, W_Q[head])
        k = nn.functional.linear(keys, W_K[head])
        scores = (q[:, None] * k).sum(-1) / 2**0.5
        assert close(found[head], scores), f"head {head} does not have the scores of its q and k"


def test_ov_circuit_by_hand():
    from circuits import ov_circuit

    embed = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    W_V, W_O = torch.tensor([[0.0, 3.0]]), torch.tensor([[2.0], [0.0]])
    unembed = torch.tensor([[5.0, 0.0], [7.0, 1.0]])
    found = ov_circuit(embed, W_V, W_O, unembed)
    assert found.shape == (2, 2), f"(V, V) is (2, 2), not {tuple(found.shape)}"
    assert rounded(found) == [0, 0, 30, 42], (
        "the head reads nothing from token 0. From token 1 it reads the value 3 and writes (6, 0), "
        f"which adds 30 to logit 0 and 42 to logit 1: [0, 0, 30, 42], not {rounded(found)}"
    )


def test_ov_circuit_of_heads():
    from circuits import ov_circuit

    embed, unembed = random(5, 6), random(5, 6, seed=1)
    W_V, W_O = random(3, 2, 6, seed=2), random(3, 6, 2, seed=3)
    found = ov_circuit(embed, W_V, W_O, unembed)
    assert found.shape == (3, 5, 5), f"(H, V, V) is (3, 5, 5), not {tuple(found.shape)}"
    for head in range(3):
        value = nn.functional.linear(embed[1], W_V[head])
        logit = nn.functional.linear(value, W_O[head]).dot(unembed[4])
        assert abs(float(found[head, 1, 4] - logit)) < 1e-4, (
            f"attention to token 1 in head {head} adds {float(logit):.4f} to logit 4, "
            f"not {float(found[head, 1, 4]):.4f}"
        )


def test_qk_circuit_of_a_wide_model():
    from circuits import qk_circuit

    with Made() as made:
        qk_circuit(random(5, 60), random(4, 60), random(3, 60), random(3, 60))
    assert made.largest < 60 * 60, "a (C, C) matrix is created: the head has only d = 3 features"


def test_ov_circuit_of_a_wide_model():
    from circuits import ov_circuit

    with Made() as made:
        ov_circuit(random(5, 60), random(3, 60), random(60, 3), random(5, 60))
    assert made.largest < 60 * 60, "a (C, C) matrix is created: the head has only d = 3 features"


def test_copying_score_by_hand():
    from circuits import copying_score

    embed, W_V = torch.eye(2), torch.eye(2)
    unembed = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    for W_O, score in (
        (torch.tensor([[1.0, 0.0], [0.0, 4.0]]), 1.0),
        (torch.tensor([[-1.0, 0.0], [0.0, -4.0]]), -1.0),
        (torch.tensor([[3.0, 0.0], [0.0, -2.0]]), 0.5),
        (torch.tensor([[0.0, 1.0], [2.0, 0.0]]), 0.0),
        (torch.zeros(2, 2), 0.0),
    ):
        found = copying_score(embed, W_V, W_O, unembed)
        assert rounded(found) == [score], (
            f"W_O = {W_O.tolist()} has the score {score}, not {rounded(found)}"
        )


def test_copying_score_of_heads():
    from circuits import copying_score

    embed, unembed = random(7, 5), random(7, 5, seed=1)
    W_V, W_O = random(3, 2, 5, seed=2), random(3, 5, 2, seed=3)
    found = copying_score(embed, W_V, W_O, unembed)
    assert found.shape == (3,), f"one score per head: (3,), not {tuple(found.shape)}"
    assert found.dtype == torch.float32, f"scores are real, not {found.dtype}"
    matrices = embed @ W_V.mT @ W_O.mT @ unembed.T  # (H, V, V)
    values = torch.linalg.eigvals(matrices.double())
    expected = (values.real.sum(-1) / values.abs().sum(-1)).float()
    assert torch.allclose(found, expected, atol=1e-3), (
        f"the eigenvalues of the OV circuits give {rounded(expected)}, not {rounded(found)}"
    )


def test_copying_score_without_large_matrices():
    from circuits import copying_score

    for vocabulary, width in ((200, 8), (10, 80)):
        embed, unembed = random(vocabulary, width), random(vocabulary, width, seed=1)
        with Made() as made:
            copying_score(embed, random(2, width, seed=2), random(width, 2, seed=3), unembed)
        assert made.largest <= vocabulary * width, "a (V, V) or (C, C) matrix is created"


def heads_of(layer, x):
    """Return what the three heads of a layer of `Tiny` add for the residual stream (B, T, 2)."""
    return [x.cumsum(dim=1), x.flip(-1).square() / 9 + 1 + layer, torch.tanh(x)]


UNEMBED = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])


class Tiny(nn.Module):
    """A model whose heads add known vectors: two layers of three heads, width 2."""

    n_layers, n_heads = 2, 3

    def __init__(self):
        super().__init__()
        self.runs = 0

    def forward(self, ids, edit=None):
        self.runs += 1
        x = torch.stack([ids, torch.zeros_like(ids)], dim=-1).float()  # (B, T, 2)
        for layer in range(2):
            written = torch.stack(heads_of(layer, x), dim=1)  # (B, 3, T, 2)
            if edit is not None:
                before = written.clone()
                edited = edit(layer, written)
                assert torch.equal(written, before), "`edit` changed its argument: return a copy"
                assert edited.shape == before.shape, "`edit` should return (B, H, T, C)"
                written = edited
            x = x + written.sum(dim=1)
        return x @ UNEMBED


def with_heads(ids, replaced):
    """Return the logits of `Tiny` with some heads replaced, and what all heads add.

    `replaced` maps (layer, head) to what the head adds instead.
    """
    x = torch.stack([ids, torch.zeros_like(ids)], dim=-1).float()
    added = {}
    for layer in range(2):
        new = {(layer, head): vectors for head, vectors in enumerate(heads_of(layer, x))}
        added |= new
        x = x + sum(replaced.get(pair, vectors) for pair, vectors in new.items())
    return x @ UNEMBED, added


def test_ablate_heads_with_zeros():
    from circuits import ablate_heads

    ids = torch.tensor([[1, 2, 3], [5, 1, 0]])
    for heads in ([(0, 1)], [(1, 0)], [(0, 0), (1, 1)], [(1, 0), (0, 0), (1, 1)], []):
        expected, _ = with_heads(ids, dict.fromkeys(heads, torch.zeros(2, 3, 2)))
        found = ablate_heads(Tiny(), ids, heads)
        assert close(found, expected), (
            f"with the heads {heads} at zero, the logits at the last position of sequence 0 are "
            f"{rounded(expected[0, -1])}, not {rounded(found[0, -1])}"
        )


def test_ablate_heads_with_means():
    from circuits import ablate_heads

    ids, reference = torch.tensor([[1, 2, 3]]), torch.tensor([[4, 0, 2], [0, 6, 6], [2, 3, 1]])
    _, added = with_heads(reference, {})
    for heads in ([(0, 0)], [(1, 1)], [(0, 1), (1, 0)]):
        expected, _ = with_heads(ids, {pair: added[pair].mean(dim=0) for pair in heads})
        found = ablate_heads(Tiny(), ids, heads, reference)
        assert close(found, expected), (
            f"with the heads {heads} at their means, the logits at the last position are "
            f"{rounded(expected[0, -1])}, not {rounded(found[0, -1])}"
        )


def test_ablate_heads_leaves_the_model():
    from circuits import ablate_heads

    model, ids = Tiny(), torch.tensor([[1, 2, 3]])
    before = model(ids)
    ablate_heads(model, ids, [(0, 1)])
    assert torch.equal(model(ids), before), "afterwards, the model should be unchanged"


@pytest.mark.parametrize(("pair", "number"), [((2, 0), "2"), ((0, 5), "5"), ((0, -3), "-3")])
def test_ablate_heads_refuses(pair, number):
    from circuits import ablate_heads

    with pytest.raises(ValueError, match=number):
        ablate_heads(Tiny(), torch.tensor([[1, 2, 3]]), [pair])


def test_patch_heads_by_hand():
    from circuits import patch_heads

    clean, corrupted = torch.tensor([[1, 2, 3], [2, 2, 0]]), torch.tensor([[4, 2, 1], [0, 5, 1]])

    def measure(logits):
        return (logits[:, -1, 0] - logits[:, 1, 1]).mean()

    for source, target in ((clean, corrupted), (corrupted, clean)):
        logits, added = with_heads(source, {})
        best, worst = measure(logits), measure(with_heads(target, {})[0])
        model = Tiny()
        found = patch_heads(model, source, target, measure)
        assert found.shape == (2, 3), f"(L, H) is (2, 3), not {tuple(found.shape)}"
        for layer, head in added:
            logits, _ = with_heads(target, {(layer, head): added[layer, head]})
            expected = float((measure(logits) - worst) / (best - worst))
            assert abs(float(found[layer, head]) - expected) < 1e-4, (
                f"the clean, corrupted and patched measures of head {head} of layer {layer} are "
                f"{float(best):.3f}, {float(worst):.3f} and {float(measure(logits)):.3f}: the "
                f"restored fraction is {expected:.3f}, not {float(found[layer, head]):.3f}"
            )
        assert torch.equal(model(target), with_heads(target, {})[0]), (
            "afterwards, the model should be unchanged"
        )


def test_patch_heads_measures_all_positions():
    from circuits import patch_heads

    clean, corrupted = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[2, 2, 3, 4]])
    model = Tiny()
    found = patch_heads(model, clean, corrupted, lambda logits: 3 - 2 * logits[0, 0].sum())
    assert found.shape == (2, 3), "the measure may use the logits of any position"
    assert model.runs == 8, f"2 runs and one for each of 6 heads are 8 runs, not {model.runs}"
    with pytest.raises(ValueError):  # noqa: PT011 -- any message
        patch_heads(Tiny(), clean, clean, lambda logits: logits.sum())
