"""Hidden graders for `fit`.

Mostly on float64 models, where right programs stay together over several steps of Adam.
"""

import pytest

from autograder.authors import expect

NEAR = 2e-5  # correct programs that sum in a different order stay within 1e-9; positions cost 1e-6


@pytest.fixture
def model(language_model):
    """A model of seven tokens; its parameters are compared at the tolerance of its losses."""
    return lambda **options: language_model(7, near=NEAR, **options)


def trained(agree, pair, inputs, targets, steps, **options):
    """Both sides' losses; the mode that the model is left in has its own test."""
    return agree.impurely.within(atol=NEAR).fit(pair, inputs, targets, steps, **options)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_losses(agree, draw, model):
    """Return the mean cross-entropy of each step before its update."""
    trained(agree, model(), draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6), 6)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_parameters_afterwards(agree, draw, model):
    """After some steps of Adam the weights are where Adam brings them."""
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
    """There are as many losses and updates as steps; no steps, no change."""
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
    """Token 0 is a token like any other."""
    ids = draw.integers(0, 7, 4, 6)
    trained(agree, model(), ids, ids * draw.bools(4, 6), 3)


@pytest.mark.dtypes("float64")
def test_slices_of_a_text(agree, draw, model):
    """Accept inputs and targets that are two views of one text, shifted by one token."""
    pair, text = model(), draw.integers(0, 7, 4, 7)
    trained(agree, pair, text[:, :-1], text[:, 1:], 3)
    turned = draw.integers(0, 7, 6, 3).T
    trained(agree, pair, turned, turned.flip(0), 2)


@pytest.mark.dtypes("float64")
def test_the_callers_things(agree, draw, model):
    """Texts stay as they were, and so does the global random state: without dropout, training
    draws no random numbers."""
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
    """Gradients that a model has from before do not count in the first step."""
    pair = injected.impurely.within(atol=NEAR).weights(0.8).Watched(7, 6)
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    pair.impurely.leave_gradients(ids)
    trained(agree, pair, ids, targets, 3)
    pair.state()


@pytest.mark.dtypes("float64")
def test_trains_in_training_mode(agree, draw, model):
    """Switch the model to training mode during training, from either mode."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for mode in (False, True):
        # at a rate of 1 everything is dropped, so that training is deterministic
        trained(agree, model(dropout=1.0).train(mode), ids, targets, 4)


@pytest.mark.dtypes("float64")
def test_mode_is_restored(agree, draw, model):
    """Afterwards the model and all its parts are in the mode that they were in before."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for mode in (False, True):
        pair = model(dropout=1.0).train(mode)
        trained(agree, pair, ids, targets, 2)
        kept = pair.student.training is mode
        expect(kept, f"A model in {'training' if mode else 'evaluation'} mode should stay in it.")
        pair(ids)


@pytest.mark.dtypes("float64")
def test_a_whole_transformer(agree, injected, draw):
    """Train a transformer with a table of positions in the same way."""
    pair = injected.impurely.within(atol=NEAR).weights(0.4).Transformer(7, 6)
    trained(agree, pair, draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6), 4)
    pair.state()


def test_single_precision(agree, draw, language_model):
    """Train a float32 model in the same way."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    # Adam enlarges rounding errors
    agree.impurely.within(atol=1e-3).fit(language_model(7), ids, targets, 4)


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, language_model, device):
    """Create all tensors on the model's device."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    agree.impurely.within(atol=1e-3).fit(language_model(7, device=device), ids, targets, 2)
