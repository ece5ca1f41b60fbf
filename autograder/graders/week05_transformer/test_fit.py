"""Hidden graders for `fit`.

Mostly on float64 models, where right programs stay together over several steps of Adam; what is
left between them comes from the float32 table of positions.
"""

import pytest

from autograder.grading.properties import expect

SIZES = {"vocab_size": 7, "d_model": 8, "n_heads": 2, "n_layers": 1, "max_len": 6}
NEAR = 2e-5  # positions differ by 1e-6 between right programs


def pair_of(agree, **sizes):
    """A small model; its parameters are compared at the same tolerance as its losses."""
    return agree.within(atol=NEAR).MiniTransformer(**SIZES | sizes)


def trained(agree, pair, inputs, targets, steps, **options):
    """Both sides' losses; the mode that the model is left in has its own test."""
    return agree.impurely.within(atol=NEAR).fit(pair, inputs, targets, steps, **options)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_losses(agree, draw):
    """The loss of each step is the mean cross-entropy before its update."""
    pair = pair_of(agree)
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    trained(agree, pair, ids, targets, 6)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_parameters_afterwards(agree, draw):
    """After some steps of Adam the weights are where Adam brings them."""
    pair = pair_of(agree)
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    trained(agree, pair, ids, targets, 5)
    pair.state()


@pytest.mark.dtypes("float64")
def test_model_without_blocks(agree, draw):
    """Any model that gives logits can be trained, even one that cannot attend."""
    pair = pair_of(agree, n_layers=0)
    ids, targets = draw.integers(0, 7, 3, 5), draw.integers(0, 7, 3, 5)
    trained(agree, pair, ids, targets, 8)
    pair.state()


@pytest.mark.dtypes("float64")
def test_learning_rate(agree, draw):
    """The learning rate is the one given, and 1e-2 where none is."""
    ids, targets = draw.integers(0, 7, 3, 5), draw.integers(0, 7, 3, 5)
    for rate in ({"lr": 3e-2}, {"lr": 1e-3}, {}):
        pair = pair_of(agree, n_layers=0)
        trained(agree, pair, ids, targets, 3, **rate)
        pair.state()


@pytest.mark.dtypes("float64")
def test_number_of_steps(agree, draw):
    """There are as many losses and updates as steps; no steps, no change."""
    ids, targets = draw.integers(0, 7, 3, 5), draw.integers(0, 7, 3, 5)
    for steps in (1, 4, 0):
        pair = pair_of(agree, n_layers=0)
        trained(agree, pair, ids, targets, steps)
        pair.state()


@pytest.mark.dtypes("float64")
def test_targets_count_as_given(agree, draw):
    """Every position of every sequence counts once, with the target that stands there."""
    for batch, tokens in ((3, 1), (1, 6), (5, 4)):
        pair = pair_of(agree)
        ids, targets = draw.integers(0, 7, batch, tokens), draw.integers(0, 7, batch, tokens)
        trained(agree, pair, ids, targets, 2)


@pytest.mark.dtypes("float64")
def test_no_token_is_special(agree, draw):
    """Token 0 is a token like any other."""
    pair = pair_of(agree)
    ids = draw.integers(0, 7, 4, 6)
    trained(agree, pair, ids, ids * draw.bools(4, 6), 3)


@pytest.mark.dtypes("float64")
def test_slices_of_a_text(agree, draw):
    """Inputs and targets may be two views of one text, a token apart."""
    pair = pair_of(agree)
    text = draw.integers(0, 7, 4, 7)
    trained(agree, pair, text[:, :-1], text[:, 1:], 3)
    text = draw.integers(0, 7, 6, 3).T
    trained(agree, pair, text, text.flip(0), 2)


@pytest.mark.dtypes("float64")
def test_the_callers_things(agree, draw):
    """Texts stay as they were, and so does torch's global random state: a model without dropout
    is trained without luck."""
    pair = pair_of(agree)
    agree.within(atol=NEAR).fit(pair, draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6), 2)


@pytest.mark.dtypes("float64")
def test_second_call(agree, draw):
    """A second call goes on from the weights of the first, with an optimiser of its own."""
    pair = pair_of(agree)
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for _ in range(2):
        trained(agree, pair, ids, targets, 3)
    pair.state()


@pytest.mark.dtypes("float64")
def test_trains_in_training_mode(agree, draw):
    """While it is trained the model is in training mode, in whichever it came."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for mode in (False, True):
        # at a rate of 1 everything is dropped, so that training is no matter of luck
        pair = pair_of(agree, dropout=1.0).train(mode)
        trained(agree, pair, ids, targets, 4)


@pytest.mark.dtypes("float64")
def test_mode_is_restored(agree, draw):
    """Afterwards the model and all its parts are in the mode in which they came."""
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    for mode in (False, True):
        pair = pair_of(agree, dropout=1.0).train(mode)
        trained(agree, pair, ids, targets, 2)
        kept = pair.student.training is mode
        expect(kept, f"A model that came in {'training' if mode else 'evaluation'} mode left it.")
        pair.impurely(ids)


def test_single_precision(agree, draw):
    """A float32 model is trained just so."""
    pair = agree.within(atol=1e-3).MiniTransformer(**SIZES)  # Adam enlarges rounding errors
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    agree.impurely.within(atol=1e-3).fit(pair, ids, targets, 4)


def test_device(agree, draw, device):
    """Nothing is left behind on another device than the model's."""
    pair = agree.within(atol=1e-3).MiniTransformer(**SIZES)
    ids, targets = draw.integers(0, 7, 4, 6), draw.integers(0, 7, 4, 6)
    agree.impurely.within(atol=1e-3).fit(pair, ids, targets, 2)
