"""Hidden graders for `repeated_tokens`: equal seeds give equal tokens."""

import pytest

from autograder.authors import expect, generator_seed


@pytest.fixture
def repeated(agree, draw):
    """Compare the tokens that are drawn from equal generators."""

    def make(*sizes, **options):
        return agree.repeated_tokens(*sizes, **options, generator=generator_seed(draw.seed()))

    return make


@pytest.mark.weight(3)
def test_every_period_is_equal(repeated):
    """Repeat each sequence after `period` tokens."""
    for batch, period, repeats in ((4, 5, 2), (2, 7, 3), (3, 2, 4)):
        ids = repeated(batch, period, 50, repeats)
        first = ids[:, :period].repeat(1, repeats)
        expect(bool((ids == first).all()), "Each period should equal the first one.")


def test_twice_by_default(repeated):
    """Repeat the period twice if `repeats` is not given."""
    repeated(3, 6, 20)
    repeated(1, 4, vocab_size=9)


@pytest.mark.weight(2)
def test_each_sequence_is_drawn(repeated):
    """Draw each token of a period, and each sequence of the batch, in one call of torch.randint."""
    repeated(20, 30, 1000)
    repeated(40, 3, 7, 1)


@pytest.mark.weight(2)
def test_vocabulary(repeated):
    """Draw from the tokens 0 … vocab_size - 1, with replacement."""
    for size in (2, 3, 5):
        ids = repeated(8, 12, size, 1)
        expect(int(ids.max()) < size, "A token is not in the vocabulary.")
    repeated(3, 20, 1)


def test_smallest_sizes(repeated):
    """Support one sequence, a period of one token, and one repetition."""
    for batch, period, size, repeats in ((1, 1, 3, 1), (1, 4, 7, 1), (3, 1, 5, 4), (2, 3, 4, 2)):
        repeated(batch, period, size, repeats)


@pytest.mark.weight(2)
def test_generator(injected, draw):
    """Take random numbers from `generator` only, so that a second call continues with it."""
    injected.impurely.drawn(4, 6, 30, 2, draw.seed())


def test_own_generator(injected, draw):
    """Use torch's default generator if none is given."""
    injected.impurely.drawn_by_default(3, 4, 10, draw.seed())


def test_refuses_impossible_sizes(refuses, repeated):
    """Raise a ValueError with the number if period or repeats is below 1."""
    repeated(2, 3, 9, 1)
    refuses(ValueError, mentions=0).repeated_tokens(2, 0, 9)
    refuses(ValueError, mentions=-3).repeated_tokens(2, -3, 9)
    refuses(ValueError, mentions=0).repeated_tokens(2, 3, 9, 0)
    refuses(ValueError, mentions=-2).repeated_tokens(2, 3, 9, repeats=-2)
