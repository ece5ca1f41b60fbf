"""Hidden graders for `speculative_step`. Both results are compared as plain ints."""

import pytest
import torch


@pytest.fixture
def step(draw):
    """Draw arguments for a draft of k tokens; `near` is the share of p in q (1: q equals p)."""

    def make(k, vocabulary=6, near=0.0):
        p = (3 * draw.normal(k + 1, vocabulary)).softmax(-1)
        q = (3 * draw.normal(k, vocabulary)).softmax(-1)
        q = near * p[:-1] + (1 - near) * q
        draft = (q.cumsum(-1) <= draw.uniform(k, 1)).sum(-1).clamp(max=vocabulary - 1)
        return draft, p, q, draw.uniform(k + 1)

    return make


def row(*numbers):
    return torch.tensor([numbers])


@pytest.mark.weight(3)
def test_drawn_steps(agree, step):
    """Accept or reject drafted tokens, and draw the next token, by the rule in the docstring."""
    for near in (0.0, 0.5, 0.9):
        for k in (1, 2, 4, 5):
            for _ in range(6):
                agree.speculative_step(*step(k, near=near))


@pytest.mark.weight(2)
def test_all_kept(agree, step):
    """Accept the whole draft if the models agree, and draw one token from p's last row."""
    for k in (1, 3):
        for _ in range(4):
            agree.speculative_step(*step(k, near=1.0))


@pytest.mark.weight(2)
def test_refused_at_once(agree, draw):
    """After a rejection, draw a token for which p is larger than q, so never the rejected token."""
    p, q = row(0.1, 0.5, 0.4, 0.0), row(0.7, 0.1, 0.1, 0.1)
    p = torch.cat([p, row(0.25, 0.25, 0.25, 0.25)])
    for last in (0.6, 0.05, 0.3, 0.55, 0.9, 0.98):  # wrong rules draw different tokens for 0.6
        agree.speculative_step(torch.tensor([0]), p, q, torch.tensor([0.9, last]))
        agree.speculative_step(torch.tensor([3]), p, q, torch.tensor([0.0, last]))


def test_refused_in_the_middle(agree, draw):
    """Ignore all drafted tokens after the first rejection."""
    p = torch.tensor([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6]])
    q = torch.tensor([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1]])
    for last in (0.1, 0.7, 0.97):
        for middle in (0.1, 0.5):
            u = torch.tensor([0.5, middle, 0.5, last])
            agree.speculative_step(torch.tensor([0, 0, 1]), p, q, u)
            agree.speculative_step(torch.tensor([1, 1, 0]), p, q, u)


def test_the_last_random_number_draws(agree):
    """Draw the token with the last entry of u, whichever drafted token is rejected."""
    p = torch.tensor([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4], [0.3, 0.4, 0.3]])
    q = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    for last in (0.05, 0.5, 0.95):
        for first, second in ((0.9, 0.1), (0.1, 0.9), (0.1, 0.1)):
            agree.speculative_step(torch.tensor([0, 1]), p, q, torch.tensor([first, second, last]))


def test_at_equality(agree):
    """Reject a token if u equals p/q; do not draw one whose cumulative probability equals u."""
    p, q = row(0.25, 0.25, 0.5), row(0.5, 0.25, 0.25)
    p = torch.cat([p, row(0.25, 0.5, 0.25)])
    for first in (0.5, 0.25):
        for last in (0.0, 0.25, 0.5, 0.75):
            agree.speculative_step(torch.tensor([0]), p, q, torch.tensor([first, last]))


def test_tokens_that_cannot_come(agree):
    """Never draw a token of probability 0, wherever it is in the vocabulary."""
    p, q = row(0.0, 0.5, 0.0, 0.5, 0.0), row(0.0, 1.0, 0.0, 0.0, 0.0)
    p = torch.cat([p, row(0.0, 0.25, 0.0, 0.75, 0.0)])
    for first in (0.25, 0.75):
        for last in (0.0, 0.125, 0.25, 0.75):
            agree.speculative_step(torch.tensor([1]), p, q, torch.tensor([first, last]))


def test_no_draft(agree, step):
    """Draw the token from p_0 if there is no draft."""
    for _ in range(5):
        agree.speculative_step(*step(0))


def test_sizes(agree, step):
    """Support drafts of one and of many tokens, and vocabularies of two and of many tokens."""
    for k, vocabulary in ((1, 2), (7, 2), (2, 50), (12, 5)):
        for _ in range(3):
            agree.speculative_step(*step(k, vocabulary, near=0.8))


@pytest.mark.dtypes("float64")
def test_float64(agree, step):
    """Accept probabilities in float64."""
    for _ in range(4):
        agree.speculative_step(*step(3, near=0.6))


def test_the_callers_tensors(agree, step):
    """Accept views of probabilities, and leave them unchanged."""
    draft, p, q, u = step(3, near=0.3)
    agree.speculative_step(draft, p.T.contiguous().T, q, u)
    agree.speculative_step(draft, p, q[:1].expand(3, 6), u)


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, step, device):
    """Accept inputs on any device, and return plain ints."""
    agree.speculative_step(*step(3, near=0.5))


def test_a_large_vocabulary(agree, step):
    """Draw tokens from the whole vocabulary, even if it has more than a thousand tokens."""
    for first in (0, 0, 1000, 1000):  # the first token with a positive probability in p
        draft, p, q, u = step(2, vocabulary=1500)
        p = p * (torch.arange(1500) >= first)
        agree.speculative_step(draft, p / p.sum(-1, keepdim=True), q, u)
