"""Hidden graders for `sink_attention`. The base of the frequencies is 100 in most tests."""

import pytest
import torch

from autograder.authors import same


@pytest.fixture
def stream(draw, frequencies):
    """Draw the arguments of a call: `stream(3, [0, 1, 7, 8, 9], 3, 2)` has 3 queries.

    The last two numbers are the window and the sinks; d = 6 and d_v = 5 by default.
    """

    def make(s, positions, window, sinks, lead=(2, 3), d=6, d_v=5):
        positions = torch.as_tensor(list(positions))
        m = len(positions)
        q, k, v = draw.normal(*lead, s, d), draw.normal(*lead, m, d), draw.normal(*lead, m, d_v)
        return q, k, v, positions, window, sinks, frequencies(d)

    return make


@pytest.mark.weight(3)
def test_everything_in_the_window(agree, stream):
    """Compute causal attention with rotary positions if the window covers the sequence."""
    agree.sink_attention(*stream(7, range(7), 7, 0))
    agree.sink_attention(*stream(6, range(6), 20, 0))


@pytest.mark.weight(3)
def test_one_new_token(agree, stream):
    """Let a single new query see all keys before it and its own."""
    agree.sink_attention(*stream(1, range(6), 8, 0))
    agree.sink_attention(*stream(2, range(9), 12, 3))


@pytest.mark.weight(4)
def test_window(agree, stream):
    """Show each query its own key and the window - 1 keys before it."""
    agree.sink_attention(*stream(9, range(9), 4, 0))
    agree.sink_attention(*stream(3, range(20, 28), 5, 0))


@pytest.mark.weight(4)
def test_sinks(agree, stream):
    """Show every query the first keys as well, however far away they are."""
    agree.sink_attention(*stream(1, [0, 1, *range(20, 25)], 5, 2))
    agree.sink_attention(*stream(1, [0, 1, 2, *range(50, 54)], 4, 3))


@pytest.mark.weight(4)
def test_positions_in_the_cache(agree, stream):
    """Count positions within the cache, in which no position is missing."""
    q, k, v, _, window, sinks, frequencies = stream(1, range(7), 5, 2)
    outputs = [
        agree.sink_attention(
            q, k, v, torch.tensor([0, 1, *range(far, far + 5)]), window, sinks, frequencies
        )
        for far in (2, 3, 40, 1000)
    ]
    for output in outputs[1:]:
        same(output, outputs[0], "The distance to a sink grows beyond the cache.")


@pytest.mark.weight(4)
def test_queries_of_one_chunk(agree, stream):
    """Count positions within the cache of each query: queries of a chunk see different keys."""
    agree.sink_attention(*stream(12, range(12), 4, 2))
    agree.sink_attention(*stream(6, range(14), 3, 4))
    agree.sink_attention(*stream(4, [0, 1, 2, *range(30, 38)], 4, 3))


@pytest.mark.weight(3)
def test_chunks(agree, stream):
    """Return the same outputs for a sequence in chunks as for the whole."""
    q, k, v, positions, window, sinks, frequencies = stream(15, range(15), 4, 2)
    whole = agree.sink_attention(q, k, v, positions, window, sinks, frequencies)
    start = 0
    for size in (3, 1, 6, 1, 4):
        end = start + size
        kept = (positions < end) & ((positions < sinks) | (positions > start - window))
        part = agree.sink_attention(
            q[:, :, start:end],
            k[:, :, kept],
            v[:, :, kept],
            positions[kept],
            window,
            sinks,
            frequencies,
        )
        same(part, whole[:, :, start:end], "In chunks, outputs differ.")
        start = end


@pytest.mark.weight(2)
def test_while_the_cache_fills(agree, stream):
    """Use the real positions while sinks and window still touch."""
    for s, length in ((2, 2), (5, 5), (1, 6), (3, 7)):
        agree.sink_attention(*stream(s, range(length), 4, 3))
    agree.sink_attention(*stream(4, range(4), 2, 6))


@pytest.mark.weight(2)
def test_keys_that_no_query_sees(agree, draw, stream):
    """Give keys outside of window and sinks no weight."""
    q, k, v, positions, *rest = stream(2, range(16), 4, 2)
    changed = v.clone()
    changed[:, :, 2:11] += 10 * draw.normal(2, 3, 9, 5)
    before = agree.sink_attention(q, k, v, positions, *rest)
    after = agree.sink_attention(q, k, changed, positions, *rest)
    same(after, before, "A key that no query sees changes the output.")


@pytest.mark.weight(2)
def test_nothing_looks_ahead(agree, draw, stream):
    """Let a query of the chunk see no later key of the chunk."""
    q, k, v, *rest = stream(6, range(9), 5, 2)
    k_changed = torch.cat([k[:, :, :6], draw.normal(2, 3, 3, 6)], dim=2)
    v_changed = torch.cat([v[:, :, :6], draw.normal(2, 3, 3, 5)], dim=2)
    before = agree.sink_attention(q, k, v, *rest)
    after = agree.sink_attention(q, k_changed, v_changed, *rest)
    same(after[:, :, :3], before[:, :, :3], "A later token changes an earlier output.")


def test_equal_values(agree, draw, stream):
    """Return the common value if all values are equal: the weights sum to 1."""
    q, k, _, *rest = stream(4, [0, 1, *range(9, 16)], 4, 2)
    v = draw.normal(2, 3, 1, 5).expand(2, 3, 9, 5)
    same(agree.sink_attention(q, k, v, *rest), v[:, :, :4], "Weights do not sum to 1.")


@pytest.mark.weight(3)
def test_far_positions(agree, stream):
    """Stay accurate after a hundred million tokens: float32 angles of such positions are not."""
    start = 10**8
    agree.sink_attention(*stream(1, [0, 1, *range(start, start + 6)], 6, 2))
    agree.sink_attention(*stream(3, [0, 1, *range(start, start + 8)], 6, 2))


def test_window_of_one(agree, stream):
    """Support a window that contains the query's own key only, with sinks or without."""
    agree.sink_attention(*stream(5, range(5), 1, 0))
    agree.sink_attention(*stream(5, range(5), 1, 2))


@pytest.mark.weight(2)
def test_scale_and_frequencies(agree, draw, stream, frequencies):
    """Divide scores by √d, and rotate with the given frequencies."""
    for d in (2, 4, 16):
        q, k, v, positions, window, sinks, _ = stream(4, range(9), 4, 2, d=d)
        given = frequencies(d, 7.0)
        agree.sink_attention(2 * q, k, v, positions, window, sinks, given)


def test_large_scores(agree, stream):
    """Return finite outputs for scores of several hundred."""
    q, k, *rest = stream(5, range(9), 4, 2)
    agree.within(1e-3, 1e-3).sink_attention(20 * q, 20 * k, *rest)


def test_sizes(agree, stream):
    """Support single sequences, heads and features, and values of any width."""
    for lead, d_v in (((1, 1), 1), ((1, 4), 7), ((3, 1), 2)):
        agree.sink_attention(*stream(3, [0, 3, 4, 5, 6, 7], 3, 1, lead=lead, d_v=d_v))


@pytest.mark.weight(2)
def test_gradients(agree, stream):
    """Propagate gradients to queries, keys and values."""
    agree.gradients.sink_attention(*stream(5, range(8), 3, 2))


def test_every_dtype(agree, stream, dtype):
    """Return the dtype of the values."""
    agree.sink_attention(*stream(3, range(7), 4, 1))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_scores_in_halves(agree, stream, dtype):
    """Compute scores in at least float32: large ones would overflow in float16."""
    q, k, v, *rest = stream(3, range(7), 4, 1, d=16)
    agree.sink_attention(q + 100, k + 100, v, *rest)


def test_views(agree, draw, stream):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k, v, *rest = stream(4, range(9), 4, 2)
    q, k = (x.transpose(0, 1).contiguous().transpose(0, 1) for x in (q, k))
    agree.sink_attention(q, k, v[:, :1].expand(2, 3, 9, 5), *rest)


@pytest.mark.weight(1, elsewhere=17)
def test_device(agree, stream, device):
    """Create all tensors on the device of the inputs."""
    agree.sink_attention(*stream(4, range(9), 4, 2))


@pytest.mark.weight(2)
def test_refuses_other_positions(submission, refuses, stream):
    """Raise ValueError if there is not one position per key, and state how many there are."""
    q, k, v, positions, *rest = stream(3, range(9), 4, 2)
    submission.sink_attention(q, k, v, positions, *rest)
    refuses(ValueError, mentions=8).sink_attention(q, k, v, positions[1:], *rest)
    refuses(ValueError, mentions=3).sink_attention(q, k, v, positions[-3:], *rest)
