"""Hidden graders for `ring_attention`."""

import pytest
import torch

from autograder.authors import all_finite, expect, same


@pytest.fixture
def blocks(draw):
    """Draw lists of blocks of queries, keys and values: `blocks(4, 4, 4)` for three devices."""

    def make(*sizes, lead=(2, 3), d=6, d_v=5):
        return tuple([draw.normal(*lead, s, w) for s in sizes] for w in (d, d, d_v))

    return make


def joined(outputs):
    return torch.cat(list(outputs), dim=2)


@pytest.mark.weight(3)
def test_causal(agree, blocks):
    """Compute causal attention over the whole sequence."""
    agree.only(joined).ring_attention(*blocks(4, 4, 4))
    agree.only(joined).ring_attention(*blocks(3, 3, 3, 3, 3))


@pytest.mark.weight(3)
def test_not_causal(agree, blocks):
    """Attend to the blocks of all devices if `causal` is False."""
    agree.only(joined).ring_attention(*blocks(4, 4, 4), False)
    agree.only(joined).ring_attention(*blocks(2, 2, 2, 2, 2), causal=False)


@pytest.mark.weight(2)
def test_outputs_stay_with_their_queries(agree, blocks):
    """Return a list of blocks: the outputs of device r at place r."""
    agree.ring_attention(*blocks(2, 3, 4), True)
    agree.ring_attention(*blocks(2, 3, 4), False)


@pytest.mark.weight(2)
def test_blocks_of_different_sizes(agree, blocks):
    """Support blocks of different sizes."""
    for sizes in ((1, 5, 2), (6, 1, 1, 3), (2, 7)):
        agree.only(joined).ring_attention(*blocks(*sizes), True)
        agree.only(joined).ring_attention(*blocks(*sizes), False)


def test_one_device(agree, blocks):
    """Compute ordinary attention on a ring of one device."""
    agree.only(joined).ring_attention(*blocks(6))
    agree.only(joined).ring_attention(*blocks(6), False)


@pytest.mark.weight(2)
def test_equal_values(agree, draw, blocks):
    """Return the common value if all values are equal: the weights of all blocks sum to 1."""
    q, k, _ = blocks(3, 3, 3)
    value = draw.normal(2, 3, 1, 5)
    v = [value.expand(2, 3, 3, 5) for _ in range(3)]
    for causal in (True, False):
        found = agree.only(joined).ring_attention(q, k, v, causal)
        same(joined(found), joined(v), "Weights do not sum to 1.")


@pytest.mark.weight(3)
def test_uneven_scores(agree, draw, blocks):
    """Weigh blocks by the sums of their weights, even if scores differ by hundreds."""
    q, k, v = blocks(3, 3, 3, 3)
    for scale in (1.0, 40.0):
        larger = [scale * (r + 1) * key for r, key in enumerate(k)]
        for keys in (larger, larger[::-1]):
            found = agree.within(1e-3, 1e-3).ring_attention(q, keys, v, False)
            all_finite(joined(found))


@pytest.mark.weight(2)
def test_large_scores(agree, blocks):
    """Return finite outputs for scores of several hundred."""
    q, k, v = blocks(3, 3, 3)
    q, k = [20 * x for x in q], [20 * x for x in k]
    for causal in (True, False):
        agree.within(1e-3, 1e-3).ring_attention(q, k, v, causal)


def test_nothing_looks_ahead(agree, draw, blocks):
    """Compute each causal output only from the positions up to its own."""
    q, k, v = blocks(3, 3, 3)
    before = agree.only(joined).ring_attention(q, k, v)
    after = agree.only(joined).ring_attention(q, [*k[:2], 2 * k[2]], [*v[:2], -v[2]])
    same(joined(after)[:, :, :6], joined(before)[:, :, :6], "A later block changes an output.")


@pytest.mark.weight(2)
def test_scale(agree, blocks):
    """Divide scores by √d."""
    for d in (1, 4, 16):
        agree.only(joined).ring_attention(*blocks(3, 2, 3, d=d))


@pytest.mark.weight(5)
def test_one_block_at_a_time(agree, count, blocks):
    """Compute with one block of keys and values at a time, on every device."""
    agree.only(joined).ring_attention(*blocks(2, 2, 2))
    arguments = blocks(*[8] * 16, lead=(1, 2), d=16, d_v=16)
    for causal in (True, False):
        largest = count.ring_attention(*arguments, causal).largest
        expect(largest <= 4 * 2 * 8 * 16, "A tensor is larger than a few blocks.")


@pytest.mark.weight(3)
def test_future_blocks_are_skipped(agree, count, blocks):
    """Compute no scores with blocks in the future: about half of the work of full attention."""
    agree.only(joined).ring_attention(*blocks(2, 2, 2))
    arguments = blocks(*[8] * 10, lead=(1, 2), d=16, d_v=16)
    causal, full = (count.ring_attention(*arguments, kind).flops for kind in (True, False))
    expect(causal <= 0.75 * full, "Causal attention does nearly the work of full attention.")


def test_singleton_axes(agree, blocks):
    """Keep axes of size 1, for a single sequence, head, position or feature."""
    for lead, d, d_v in (((1, 1), 4, 5), ((3, 1), 1, 1), ((1, 2), 2, 3)):
        agree.ring_attention(*blocks(1, 2, 1, lead=lead, d=d, d_v=d_v))
        agree.ring_attention(*blocks(1, 1, lead=lead, d=d, d_v=d_v), False)


@pytest.mark.weight(2)
def test_gradients(agree, blocks):
    """Propagate gradients to all blocks of queries, keys and values."""
    for causal in (True, False):
        agree.gradients.only(joined).ring_attention(*blocks(2, 3, 2), causal)


def test_every_dtype(agree, blocks, dtype):
    """Return the dtype of the values."""
    agree.ring_attention(*blocks(3, 2, 3))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_scores_in_halves(agree, blocks, dtype):
    """Compute scores and merge in at least float32: float16 would overflow."""
    q, k, v = blocks(3, 3, d=16)
    agree.ring_attention([x + 100 for x in q], [x + 100 for x in k], v)


def test_views(agree, draw):
    """Accept tuples of transposed views, and leave them unchanged."""
    q, k, v = (tuple(draw.normal(2, s, 3, 4).transpose(1, 2) for s in (3, 2, 4)) for _ in range(3))
    agree.ring_attention(q, k, v)


@pytest.mark.weight(1, elsewhere=14)
def test_device(agree, blocks, device):
    """Create all tensors on the device of the blocks."""
    for causal in (True, False):
        agree.ring_attention(*blocks(3, 2, 3), causal)


@pytest.mark.weight(2)
def test_refuses_missing_blocks(submission, refuses, blocks):
    """Raise ValueError if there are different numbers of blocks, and state one of them."""
    q, k, v = blocks(2, 2, 2, 2)
    submission.ring_attention(q, k, v)
    refuses(ValueError, mentions=(4, 3)).ring_attention(q, k[:3], v[:3])
    refuses(ValueError, mentions=(4, 2)).ring_attention(q, k, v[:2])
