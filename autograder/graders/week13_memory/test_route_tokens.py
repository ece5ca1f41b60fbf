"""Hidden graders for `route_tokens`."""

import pytest
import torch

from autograder.authors import expect, same


@pytest.fixture
def logits(draw):
    """Draw logits that differ clearly: `logits(9, 4)` for 9 tokens and 4 experts."""

    def make(tokens, experts):
        order = draw.uniform(tokens, experts, low=0.0, high=1.0).argsort(dim=-1)
        return order * 0.6 + draw.uniform(tokens, experts, low=-0.2, high=0.2)

    return make


def experts_of(result):
    return result[0]


def weights_of(result):
    return result[1]


def slots_of(result):
    return result[2]


def loss_of(result):
    return result[3]


@pytest.mark.weight(2)
def test_experts(agree, logits):
    """Choose the k most likely experts, most likely first."""
    for k in (1, 2, 4):
        agree.exactly.only(experts_of).route_tokens(logits(9, 5), k, 50)


@pytest.mark.weight(3)
def test_weights(agree, logits):
    """Weigh chosen experts by their probabilities among all experts, not renormalised."""
    for k in (1, 3):
        agree.only(weights_of).route_tokens(logits(9, 5), k, 50)


@pytest.mark.weight(4)
def test_slots_of_one_choice(agree, logits):
    """Fill the places of each expert in the order of the tokens, and drop the rest."""
    for capacity in (1, 2, 3):
        agree.exactly.only(slots_of).route_tokens(logits(16, 4), 1, capacity)


@pytest.mark.weight(4)
def test_first_choices_first(agree, logits):
    """Give places to the first choices of all tokens before any second choice."""
    for k, capacity in ((2, 4), (2, 6), (3, 7)):
        agree.exactly.only(slots_of).route_tokens(logits(14, 4), k, capacity)


@pytest.mark.weight(3)
def test_dropped_weights(agree, logits):
    """Give dropped choices the weight 0, and leave the others as they are."""
    for k in (1, 2):
        agree.only(weights_of).route_tokens(logits(16, 4), k, 3)


@pytest.mark.weight(3)
def test_loss(agree, logits):
    """Return E times the sum of the products of shares and mean probabilities."""
    agree.only(loss_of).route_tokens(logits(12, 5), 1, 50)
    agree.only(loss_of).route_tokens(logits(7, 3), 1, 50)


@pytest.mark.weight(2)
def test_loss_of_several_choices(agree, logits):
    """Count all k choices of each token in the shares, which sum to 1."""
    for k in (2, 3):
        agree.only(loss_of).route_tokens(logits(12, 5), k, 50)


@pytest.mark.weight(2)
def test_loss_counts_dropped_choices(agree, logits):
    """Compute the loss from all choices, before any is dropped."""
    agree.only(loss_of).route_tokens(logits(20, 4), 1, 2)
    agree.only(loss_of).route_tokens(logits(20, 4), 2, 3)


def test_even_loss(submission, draw):
    """Return a loss of 1 if choices and probabilities are spread evenly."""
    logits = 3.0 * torch.eye(6)[draw.permutation(6)]
    same(submission.route_tokens(logits, 1, 1)[3], torch.tensor(1.0), "The loss should be 1.")


@pytest.mark.weight(2)
def test_everybody_chooses_one(agree, draw):
    """Keep `capacity` choices if all tokens choose the same expert."""
    logits = draw.uniform(10, 4, low=-0.2, high=0.2)
    logits[:, 2] += 3.0
    _, weights, slots, _ = agree.route_tokens(logits, 1, 4)
    expect(int((slots >= 0).sum()) == 4, "The number of kept choices differs from the capacity.")
    expect(int((weights > 0).sum()) == 4, "The number of positive weights differs.")


def test_ample_capacity(agree, logits):
    """Drop nothing if the capacity suffices."""
    _, _, slots, _ = agree.route_tokens(logits(9, 4), 2, 18)
    expect(bool((slots >= 0).all()), "A choice is dropped although there is a place.")


def test_singleton_axes(agree, logits):
    """Support a single token, a single expert, and as many choices as experts."""
    agree.route_tokens(logits(1, 4), 2, 1)
    agree.route_tokens(logits(6, 1), 1, 4)
    agree.route_tokens(logits(6, 3), 3, 4)


@pytest.mark.weight(2)
def test_gradients(agree, logits):
    """Propagate gradients through weights and loss to all logits."""
    agree.gradients.only(weights_of).route_tokens(logits(9, 4), 2, 3)
    agree.gradients.only(loss_of).route_tokens(logits(9, 4), 2, 3)


def test_large_logits(agree, logits):
    """Return finite results for logits of several hundred, positive or negative."""
    for shift in (500, -500):
        agree.within(1e-3, 1e-3).route_tokens(logits(9, 4) + shift, 2, 3)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16", "bfloat16", "float64")
def test_dtypes(agree, logits, dtype):
    """Compute probabilities and the loss in at least float32."""
    agree.within(1e-5, 1e-5).route_tokens(logits(9, 4).to(dtype), 2, 3)


def test_views(agree, logits):
    """Accept transposed inputs, and leave them unchanged."""
    agree.route_tokens(logits(9, 4).mT.contiguous().mT, 2, 3)


@pytest.mark.weight(1, elsewhere=14)
def test_device(agree, logits, device):
    """Create all tensors on the device of the logits."""
    agree.route_tokens(logits(9, 4), 2, 3)


@pytest.mark.weight(2)
def test_refuses(submission, refuses, logits):
    """Raise ValueError for k outside of 1 to E or a capacity below 1, and state the number."""
    given = logits(6, 4)
    submission.route_tokens(given, 4, 1)
    for k in (0, 5, -1):
        refuses(ValueError, mentions=k).route_tokens(given, k, 3)
    for capacity in (0, -2):
        refuses(ValueError, mentions=capacity).route_tokens(given, 1, capacity)


def test_many_tokens(agree, logits):
    """Support more than a thousand tokens."""
    agree.exactly.only(slots_of).route_tokens(logits(1500, 8), 2, 300)
