"""Hidden graders for `relative_attention`. The table always has an odd number of rows."""

import pytest

from autograder.authors import expect, rows_sum_to_one


def alike(draw, *shape):
    """Draw queries, keys and values of the same shape."""
    return draw.normal(*shape), draw.normal(*shape), draw.normal(*shape)


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Score query i and key j by q_i · (k_j + a) / √d, where a is the table's row for j - i."""
    _, weights = agree.relative_attention(*alike(draw, 2, 5, 6), draw.normal(9, 6))
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Support values with fewer or more features than queries and keys."""
    for d_v in (3, 8):
        q, k, v = draw.normal(5, 6), draw.normal(5, 6), draw.normal(5, d_v)
        agree.relative_attention(q, k, v, draw.normal(9, 6))


def test_any_leading_dimensions(agree, draw):
    """Apply the same table to inputs without a batch, with a batch, and with heads."""
    table = draw.normal(5, 6)
    for lead in ((), (1,), (2, 3)):
        agree.relative_attention(*alike(draw, *lead, 4, 6), table)


@pytest.mark.weight(2)
def test_far_keys_share_a_row(agree, draw):
    """Use the first (last) table row for all keys at least D positions before (after) the query."""
    q, k, v = alike(draw, 2, 9, 4)
    agree.relative_attention(q, k, v, draw.normal(5, 4))
    agree.relative_attention(q, k, v, draw.normal(3, 4))
    agree.relative_attention(q, k, v, draw.normal(1, 4))


def test_table_longer_than_the_sequence(agree, draw):
    """Accept a table with rows for distances that do not occur."""
    agree.relative_attention(*alike(draw, 3, 4), draw.normal(21, 4))


@pytest.mark.weight(3)
def test_more_queries_or_keys(agree, draw):
    """Count queries and keys from 0, even if n and m differ."""
    for n, m in ((8, 3), (5, 7)):
        q, k, v = draw.normal(2, n, 4), draw.normal(2, m, 4), draw.normal(2, m, 4)
        agree.relative_attention(q, k, v, draw.normal(7, 4))


def test_scale(agree, draw):
    """Divide both parts of the score by the square root of the head size."""
    for d in (2, 16):
        agree.relative_attention(*alike(draw, 2, 3, 5, d), draw.normal(7, d))


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to queries, keys, values and table."""
    agree.gradients.relative_attention(*alike(draw, 2, 3, 5, 4), draw.normal(7, 4))


@pytest.mark.weight(2)
def test_memory(agree, count, draw):
    """Allocate no tensor of about n·m·d elements."""
    n, d = 44, 64
    q, k, v = alike(draw, 1, n, d)
    table = draw.normal(7, d)
    agree.relative_attention(q, k, v, table)
    made = count.relative_attention(q, k, v, table).largest
    expect(made < n * n * d // 4, "A tensor of about n·m·d elements is made on the way.")


def test_every_dtype(agree, draw, dtype):
    """Return output and weights in the dtype of the inputs."""
    agree.relative_attention(*alike(draw, 5, 6), draw.normal(5, 6))


def test_singleton_axes(agree, draw):
    """Keep axes of size 1, for a single query, key or feature."""
    agree.relative_attention(
        draw.normal(2, 1, 4), draw.normal(2, 5, 4), draw.normal(2, 5, 4), draw.normal(5, 4)
    )
    agree.relative_attention(
        draw.normal(1, 3, 1), draw.normal(1, 1, 1), draw.normal(1, 1, 1), draw.normal(5, 1)
    )


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    agree.relative_attention(
        draw.normal(5, 2, 6).transpose(0, 1),
        draw.normal(1, 5, 6).expand(2, 5, 6),
        draw.normal(2, 6, 5).transpose(1, 2),
        draw.normal(6, 5).T,
    )


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, device):
    """Create the distances on the device of the queries."""
    agree.relative_attention(*alike(draw, 2, 3, 5, 6), draw.normal(5, 6))


def test_many_keys(agree, draw):
    """Attend to every key, even with more than a thousand keys."""
    q, k, v = draw.normal(2, 4), draw.normal(1100, 4), draw.normal(1100, 4)
    agree.relative_attention(q, k, v, draw.normal(5, 4))


def test_gradients_with_singleton_axes(agree, draw):
    """Compute gradients for a single query, key or feature."""
    for n, m, d in ((1, 6, 4), (5, 1, 4), (5, 6, 1)):
        q, k, v = draw.normal(1, n, d), draw.normal(1, m, d), draw.normal(1, m, d)
        agree.gradients.relative_attention(q, k, v, draw.normal(5, d))


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    first, second = (
        [*(draw.normal(2, n, 5) for n in (4, 6, 6)), draw.normal(7, 5)] for _ in range(2)
    )
    agree.gradients.in_a_row.relative_attention(first, second)
