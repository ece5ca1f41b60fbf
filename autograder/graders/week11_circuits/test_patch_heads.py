"""Hidden graders for `patch_heads`. injected.py defines the model.

Rounding errors of a fraction are large if the measures of both runs are similar, so pairs are drawn
until the measures differ, and results are compared to within 2e-3.
"""

import pytest
import torch

from autograder.authors import expect, function

DIFFERENCE = "lambda logits: (logits[:, -1, 3] - logits[:, -1, 7]).mean()"


@pytest.fixture
def patched(agree):
    """Compare the restored fractions."""
    return agree.impurely.within(2e-3).patch_heads


@pytest.fixture
def pairs(draw):
    """Draw clean ids (B, T), and a copy with other tokens at some positions."""

    def make(batch=3, length=6, changed=2):
        clean = draw.integers(0, 11, batch, length)
        corrupted = clean.clone()
        corrupted[:, changed] = (clean[:, changed] + 5) % 11
        corrupted[:, -1] = (clean[:, -1] + 3) % 11
        return clean, corrupted

    return make


@pytest.fixture
def apart(pairs):
    """Draw a pair of inputs whose measures differ."""

    def make(model, *sizes, measure=DIFFERENCE):
        measured = eval(measure, {"torch": torch})
        for _ in range(50):
            clean, corrupted = pairs(*sizes)
            runs = (model.reference(ids) for ids in (clean, corrupted))
            one, other = (float(measured(logits)) for logits in runs)
            if abs(one - other) > 0.1:
                break
        return model, clean, corrupted, function(measure)

    return make


@pytest.mark.weight(3)
def test_values(patched, model, apart):
    """Return the restored fraction of each head."""
    patched(*apart(model(2, 3)))
    patched(*apart(model(3, 2), 2, 5))


@pytest.mark.weight(2)
def test_direction(patched, model, apart):
    """Copy from the clean run into the corrupted run, not the other way round."""
    pair, clean, corrupted, measure = apart(model(2, 2))
    patched(pair, clean, corrupted, measure)
    patched(pair, corrupted, clean, measure)


@pytest.mark.weight(2)
def test_any_measure(patched, model, apart):
    """Apply the measure to the logits of all positions and tokens."""
    pair = model(2, 2)
    for source in (
        "lambda logits: logits[0, 2, 4]",
        "lambda logits: torch.logsumexp(logits, -1).sum()",
        "lambda logits: 5 + 2 * logits[1, -1, 0]",
    ):
        patched(*apart(pair, measure=source))


@pytest.mark.weight(2)
def test_one_head_at_a_time(submission, model, pairs):
    """Patch each head alone: if each adds its part of the difference, the fractions sum to 1."""
    clean, corrupted = pairs()
    corrupted[:, -1] = clean[:, -1]  # the embedding of the last token is the same
    pair = model(1, 3)
    found = submission.patch_heads(pair.student, clean, corrupted, function(DIFFERENCE))
    expect(abs(float(found.sum()) - 1) < 1e-2, "The heads of one layer should restore everything.")


def test_sizes(patched, model, apart):
    """Return (L, H), for one layer, one head, one sequence as well."""
    for layers, heads in ((1, 1), (1, 4), (4, 1), (3, 3)):
        patched(*apart(model(layers, heads), 1, 5))


@pytest.mark.weight(2)
def test_later_layers_see_the_change(patched, model, apart):
    """Let later layers compute with the patched residual stream."""
    patched(*apart(model(4, 2), 2, 7))


def test_restores_nothing(patched, model, pairs):
    """Return 0 for heads whose outputs are equal in both runs."""
    clean, corrupted = pairs(2, 5)
    late = clean.clone()
    late[:, -1] = corrupted[:, -1]
    patched(model(2, 2), clean, late, function("lambda logits: logits[:, -1].square().sum()"))


@pytest.mark.weight(2)
def test_the_model_is_unchanged(patched, model, apart):
    """Leave the model as it was: its weights, and what it computes afterwards."""
    pair, clean, corrupted, measure = apart(model())
    patched(pair, clean, corrupted, measure)
    pair.state()
    pair(corrupted)


def test_runs(agree, injected, model, pairs):
    """Run the model once on each input and once for each head."""
    pair = model(2, 3)
    agree.impurely.within(0.5).patch_heads(pair, *pairs(), function(DIFFERENCE))
    runs = injected.impurely.only(len).runs(pair)
    expect(len(runs) == 8, "With 2 layers of 3 heads, the model should run 8 times.")


def test_refuses_equal_runs(refuses, model, pairs):
    """Raise a ValueError if the clean and the corrupted run have equal measures."""
    clean, _ = pairs()
    refuses(ValueError).patch_heads(model().student, clean, clean, function(DIFFERENCE))


@pytest.mark.weight(1, elsewhere=4)
def test_device(patched, model, apart, device):
    """Compute on the device of the model."""
    patched(*apart(model()))


@pytest.mark.dtypes("float64")
def test_double_precision(patched, model, apart, dtype):
    """Return float64 for a float64 model."""
    patched(*apart(model()))


def test_provided_model(agree, patched, apart):
    """Patch heads of the provided `AttentionOnly`, too."""
    model = agree.impurely.weights(0.6).AttentionOnly(11, 6, 3, 2, 4)
    patched(*apart(model, 2, 4))
