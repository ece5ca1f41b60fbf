"""Hidden graders for `sample_top_p`.

Tokens are drawn in float32, where correct programs draw equal tokens from equal seeds.
"""

import pytest
import torch

from autograder.authors import expect, generator_seed


def row(*probabilities):
    return torch.tensor([probabilities]).log()


@pytest.mark.weight(3)
def test_drawn_tokens(injected, draw):
    """Draw from the most likely tokens whose probabilities sum to p or more."""
    for p in (0.9, 0.6, 0.3):  # large sets first: a set of two without one is the likeliest token
        injected.drawn_ids(2 * draw.normal(5, 9), p, None, draw.seed(), 12)


@pytest.mark.weight(2)
def test_smallest_set(injected, draw):
    """Keep the token that reaches p, and none after it."""
    logits = row(0.05, 0.4, 0.1, 0.25, 0.2).repeat(40, 1)
    for p, kept in ((0.9, {1, 2, 3, 4}), (0.7, {1, 3, 4}), (0.5, {1, 3}), (0.3, {1})):
        ids = injected.drawn_ids(logits, p, None, draw.seed(), 5)
        expect(set(ids.flatten().tolist()) <= kept, "A token outside the smallest set is drawn.")


def test_one_token_is_always_kept(injected, draw):
    """Keep the most likely token, even if it alone exceeds p."""
    injected.drawn_ids(row(0.1, 0.8, 0.1).repeat(6, 1), 0.2, None, draw.seed(), 4)
    injected.drawn_ids(draw.normal(4, 7), 1e-6, None, draw.seed(), 4)


def test_everything(injected, draw):
    """Draw from all tokens if p is 1."""
    injected.drawn_ids(draw.normal(30, 4), 1.0, None, draw.seed(), 4)


@pytest.mark.weight(2)
def test_temperature(injected, draw):
    """Divide the logits by the temperature before the softmax, hence before the cut."""
    for temperature in (5.0, 2.0, 0.5):
        injected.drawn_ids(2 * draw.normal(6, 8), 0.7, temperature, draw.seed(), 8)


@pytest.mark.weight(2)
def test_each_row_has_its_set(injected, draw):
    """Choose the set for each row separately: one may keep one token, another all."""
    logits = torch.cat([row(0.97, 0.01, 0.01, 0.01), row(0.25, 0.26, 0.24, 0.25)])
    injected.drawn_ids(logits.repeat(10, 1), 0.9, None, draw.seed(), 6)


def test_shapes(injected, draw):
    """Return one id per row, int64, for one row or one token as well."""
    for batch, vocabulary in ((1, 6), (3, 1), (1, 1), (7, 2)):
        injected.drawn_ids(draw.normal(batch, vocabulary), 0.8, None, draw.seed(), 3)


def test_large_logits(injected, draw):
    """Accept logits in the thousands and of -inf."""
    logits = 2000 * draw.normal(5, 6)
    logits[:, 0] = -torch.inf
    injected.drawn_ids(logits, 0.9, None, draw.seed(), 3)
    injected.drawn_ids(logits / 2000, 0.9, None, draw.seed(), 8)


def test_the_callers_things(agree, draw):
    """Accept views, and leave the logits and torch's global random state unchanged."""
    # one token per row is kept: the order of random numbers depends on the layout in memory
    agree.sample_top_p(draw.normal(6, 4).T, 1e-6, generator=generator_seed(draw.seed()))
    agree.sample_top_p(draw.normal(1, 6).expand(5, 6), 1e-6, 1.5, generator_seed(draw.seed()))


def test_without_a_generator(agree, draw):
    """Use torch's default generator if none is given."""
    agree.impurely.sample_top_p(draw.normal(4, 6), 1e-6)


def test_refuses_other_p(submission, refuses, draw):
    """Raise a ValueError that states p if it is not above 0 and at most 1."""
    submission.sample_top_p(draw.normal(2, 5), 1.0, generator=generator_seed(1))
    refuses(ValueError, mentions=1.25).sample_top_p(draw.normal(2, 5), 1.25)
    refuses(ValueError, mentions=-0.5).sample_top_p(draw.normal(2, 5), -0.5)
    refuses(ValueError, mentions=0).sample_top_p(draw.normal(2, 5), 0.0)


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Draw on the device of the logits."""
    agree.impurely.sample_top_p(draw.normal(4, 6), 1e-6)


def test_a_large_vocabulary(injected, draw):
    """Draw from vocabularies of more than a thousand tokens."""
    injected.drawn_ids(0.5 * draw.normal(3, 1500), 0.5, None, draw.seed(), 3)
