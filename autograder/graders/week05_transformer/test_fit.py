"""Hidden graders for `fit`.

Most tests use float64 models, because rounding errors grow over several steps of Adam.
"""

import pytest

from autograder.authors import expect

NEAR = 2e-5  # correct programs that sum in a different order stay within 1e-9


@pytest.fixture
def model(language_model):
    """Return a function that creates models with a vocabulary of 7 and a tolerance of NEAR."""
    return lambda **options: language_model(7, near=NEAR, **options)


def trained(agree, pair, inputs, targets, steps, **options):
    """Train both models and compare the losses; test_mode_is_restored compares the final mode."""
    return agree.impurely.within(atol=NEAR).fit(pair, inputs, targets, steps, **options)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_losses(agree, draw, model):
    """Return the mean cross-entropy of each step before its update."""
    trained(agree, model(), draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6), 6)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_parameters_afterwards(agree, draw, model):
    """Update the parameters with Adam in every step."""
    pair = model()
    trained(agree, pair, draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6), 5)
    pair.state()


@pytest.mark.dtypes("float64")
def test_learning_rate(agree, draw, model):
    """Use the given learning rate, and 1e-2 by default."""
    ids, targets = draw.integers(0, 7, 3, 5), draw.integers(0, 7, 3, 5)
    for rate in ({"lr": 3e-2}, {"lr": 1e-3}, {}):
        pair = model()
        trained(agree, pair, ids, targets, 3, **rate)
        pair.state()


@pytest.mark.dtypes("float64")
def test_number_of_steps(agree, draw, model):
    """Return one loss and make one update per step; change nothing for 0 steps."""
    ids, targets = draw.integers(0, 7, 3, 5), draw.integers(0, 7, 3, 5)
    for steps in (1, 4, 0):
        pair = model()
        trained(agree, pair, ids, targets, steps)
        pair.state()


@pytest.mark.dtypes("float64")
def test_targets_count_as_given(agree, draw, model):
    """Count every position of every sequence once, with its target."""
    for shape in ((3, 1), (1, 6), (5, 4)):
        trained(agree, model(), draw.integers(0, 7, *shape), draw.integers(0, 7, *shape), 2)


@pytest.mark.dtypes("float64")
def test_no_token_is_special(agree, draw, model):
    """Treat token 0 like any other token."""
    ids = draw.integers(0, 7, 4, 6)
    trained(agree, model(), ids, ids * draw.bools(4, 6), 3)


@pytest.mark.dtypes("float64")
def test_slices_of_a_text(agree, draw, model):
    """Accept views as inputs and targets, such as slices of one text shifted by one token."""
    pair, text = model(), draw.integers(0, 7, 4, 7)
    trained(agree, pair, text[:, :-1], text[:, 1:], 3)
    turned = draw.integers(0, 7, 6, 3).T
    trained(agree, pair, turned, turned.flip(0), 2)


@pytest.mark.dtypes("float64")
def test_the_callers_things(agree, draw, model):
    """Leave inputs, targets and, without dropout, the global random state unchanged."""
    pair = model()
    agree.within(atol=NEAR).fit(pair, draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6), 2)


@pytest.mark.dtypes("float64")
def test_second_call(agree, draw, model):
    """Continue from the current weights in a second call, with a new optimiser."""
    pair = model()
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for _ in range(2):
        trained(agree, pair, ids, targets, 3)
    pair.state()


@pytest.mark.dtypes("float64")
def test_gradients_from_before(agree, draw, injected):
    """Ignore gradients that earlier training left in the parameters."""
    pair = injected.impurely.within(atol=NEAR).weights(0.8).Watched(7, 6)
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    pair.impurely.leave_gradients(ids)
    trained(agree, pair, ids, targets, 3)
    pair.state()


@pytest.mark.dtypes("float64")
def test_trains_in_training_mode(agree, draw, model):
    """Train in training mode, even if the model was in evaluation mode."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for mode in (False, True):
        # at a rate of 1 everything is dropped, so that training is deterministic
        trained(agree, model(dropout=1.0).train(mode), ids, targets, 4)


@pytest.mark.dtypes("float64")
def test_mode_is_restored(agree, draw, model):
    """Restore the previous mode of the model and its submodules."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for mode in (False, True):
        pair = model(dropout=1.0).train(mode)
        trained(agree, pair, ids, targets, 2)
        kept = pair.student.training is mode
        expect(kept, f"A model in {'training' if mode else 'evaluation'} mode should stay in it.")
        pair(ids)


@pytest.mark.dtypes("float64")
def test_a_whole_transformer(agree, injected, draw):
    """Train a transformer that has a table of positions."""
    pair = injected.impurely.within(atol=NEAR).weights(0.4).Transformer(7, 6)
    trained(agree, pair, draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6), 4)
    pair.state()


def test_single_precision(agree, draw, language_model):
    """Train a float32 model."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    # Adam amplifies rounding errors
    agree.impurely.within(atol=1e-3).fit(language_model(7), ids, targets, 4)


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, language_model, device):
    """Create all tensors on the model's device."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    agree.impurely.within(atol=1e-3).fit(language_model(7, device=device), ids, targets, 2)
