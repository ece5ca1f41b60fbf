"""Hidden graders for `lsh_attention`; conftest.py makes inputs on which correct programs agree."""

import math
import statistics

import pytest
import torch

from autograder.authors import expect, growth_exponent, same

THREES = [0, 1, 2] * 4  # with chunks of four, each bucket fills one chunk
ONE_BUCKET = [0] * 12
SPREAD = [
    1,
    0,
    1,
    2,
    0,
    1,
    1,
    0,
    2,
    0,
    1,
    0,
    1,
    2,
    0,
    1,
]  # buckets of six, seven and three positions: chunks of four split the two larger ones


# A correct program may divide a key by its norm + 1e-8. The effect exceeds rounding errors only in
# float64, where scores near -1e5 have a resolution of 1.5e-11.
IN_FLOAT64 = 3e-8


def full_attention(qk, v):
    """Compute shared-QK attention over all pairs in float64."""
    qk, v = qk.double(), v.double()
    scores = qk @ (qk / qk.norm(dim=-1, keepdim=True)).mT / math.sqrt(qk.shape[-1])
    return (scores - 1e5 * torch.eye(qk.shape[-2])).softmax(-1) @ v


def test_values(agree, draw, clear):
    """Hash, sort, cut into chunks and attend in a single round."""
    rotations = draw.normal(1, 5, 2)
    agree.lsh_attention(clear(rotations, 2, 12, 5), draw.normal(2, 12, 5), rotations, 4)


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw, clear):
    """Support values of a smaller or larger size than queries and keys."""
    rotations = draw.normal(2, 5, 2)
    for d_v in (2, 8):
        x = clear(rotations, 2, 12, 5, bucket_size=4)
        agree.lsh_attention(x, draw.normal(2, 12, d_v), rotations, 4)


def test_any_leading_dimensions(agree, draw, clear):
    """Support zero, one or two leading dimensions, and a single position."""
    rotations = draw.normal(1, 5, 2)
    for lead in ((), (4,), (2, 6)):
        agree.lsh_attention(clear(rotations, *lead, 12, 5), draw.normal(*lead, 12, 5), rotations, 4)
    agree.lsh_attention(clear(rotations, 2, 1, 5), draw.normal(2, 1, 5), rotations, 1)


def test_one_chunk_is_full_attention(agree, draw, planted):
    """Return full shared-QK attention if all positions share one bucket and one chunk."""
    x, rotations = planted([[0] * 9], 2, n_buckets=4)
    qk, v = 2 * x, draw.normal(2, 9, x.shape[-1])
    result = agree.lsh_attention(qk, v, rotations, 9)
    expect(
        torch.allclose(result.double(), full_attention(qk, v), atol=1e-4),
        "With everything in one bucket and one chunk, the result should be full attention.",
    )


def test_looks_back_one_chunk(agree, draw, planted):
    """Attend only to the position's own chunk and the previous chunk in sorted order."""
    x, rotations = planted([SPREAD], 2)
    agree.lsh_attention(x, draw.normal(2, 16, x.shape[-1]), rotations, 4)
    x, rotations = planted([ONE_BUCKET], 2)
    agree.lsh_attention(x, draw.normal(2, 12, x.shape[-1]), rotations, 3)


def test_nothing_before_the_first_chunk(agree, draw, planted):
    """Give the first chunk no predecessor: neither the last chunk nor padding."""
    for bucket in (0, 3):
        x, rotations = planted([[bucket] * 12], 2)
        v = draw.normal(2, 12, x.shape[-1])
        result = agree.lsh_attention(x, v, rotations, 4)
        first = full_attention(x[:, :4], v[:, :4])
        expect(
            torch.allclose(result[:, :4].double(), first, atol=1e-4),
            "The first chunk should see itself only.",
        )


def test_buckets_stay_apart(agree, draw, planted):
    """Hide positions of different buckets from each other, even within a chunk."""
    x, rotations = planted([[0, 1, 2, 0, 1, 2, 0, 3, 3]], 2)
    agree.lsh_attention(x, draw.normal(2, 9, x.shape[-1]), rotations, 9)
    x, rotations = planted([[3, 1, 0, 0, 1, 3, 2, 2, 3, 1, 2, 1]], 2)
    agree.lsh_attention(x, draw.normal(2, 12, x.shape[-1]), rotations, 6)


def test_itself_comes_last(agree, draw, planted):
    """Give a position's own value no weight if another position is visible."""
    x, rotations = planted([THREES], 2)
    v = draw.normal(2, 12, x.shape[-1])
    before = agree.lsh_attention(x, v, rotations, 4)
    v[:, 5] += 10.0
    after = agree.lsh_attention(x, v, rotations, 4)
    same(before[:, 5], after[:, 5], "A position's own value should count only if it is alone.")


@pytest.mark.dtypes("float64")
def test_long_queries_do_not_attend_to_themselves(agree, draw, planted):
    """Give a long query's own value no weight if another position is visible."""
    # Scores of tens of thousands: float64 has a resolution of 1e-11.
    x, rotations = planted([THREES], 2)
    agree.within(IN_FLOAT64).lsh_attention(
        40_000 * x, draw.normal(2, 12, x.shape[-1]), rotations, 4
    )


def test_alone_it_attends_to_itself(agree, draw, planted):
    """Return a position's own value if it is alone in its bucket."""
    x, rotations = planted([[4, 2, 7, 0, 1, 6, 3, 5]], 2, n_buckets=8)
    v = draw.normal(2, 8, x.shape[-1])
    result = agree.lsh_attention(x, v, rotations, 4)
    same(result, v, "A position that is alone should get its own value.")


@pytest.mark.dtypes("float64")
def test_alone_in_some_rounds_or_in_all(agree, draw, planted):
    """Count a round in which a position is alone only if the position is alone in all rounds."""
    x, rotations = planted(
        [[0, 0, 1, 2, 3, 0, 0, 3], [0, 1, 2, 1, 1, 3, 3, 3], [2, 1, 1, 0, 2, 2, 1, 1]], 2
    )
    agree.within(IN_FLOAT64).lsh_attention(x, draw.normal(2, 8, x.shape[-1]), rotations, 2)


def test_only_the_direction_of_a_key_counts(agree, draw, planted):
    """Scale keys, but not queries, to unit length."""
    x, rotations = planted([THREES], 2)
    v = draw.normal(2, 12, x.shape[-1])
    before = agree.lsh_attention(x, v, rotations, 4)
    longer = x.clone()
    longer[:, 5] *= 8.0
    after = agree.lsh_attention(longer, v, rotations, 4)
    others = [i for i in range(12) if i != 5]
    same(before[:, others], after[:, others], "A longer key should not draw more attention.")


def test_rounds_count_by_what_they_found(agree, draw, planted):
    """Weight the rounds by the softmax of their logsumexps."""
    x, rotations = planted([THREES, SPREAD[:12], [2, 0, 0, 1, 0, 2, 2, 0, 1, 2, 2, 0]], 2)
    agree.lsh_attention(2 * x, draw.normal(2, 12, x.shape[-1]), rotations, 4)
    x, rotations = planted([THREES, draw.integers(0, 4, 12).tolist()], 2, 3)
    agree.lsh_attention(2 * x, draw.normal(2, 3, 12, x.shape[-1]), rotations, 4)


def test_a_key_met_twice_counts_twice(agree, draw, planted):
    """Count a key twice if it is visible in two rounds."""
    x, rotations = planted([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]], 2)
    agree.lsh_attention(2 * x, draw.normal(2, 6, x.shape[-1]), rotations, 3)


def test_causal(agree, draw, planted):
    """Mask positions later in the sequence (not in sorted order) if `causal` is True."""
    for buckets, size in ((THREES, 4), (SPREAD, 4), (ONE_BUCKET, 6)):
        x, rotations = planted([buckets], 2)
        v = draw.normal(2, len(buckets), x.shape[-1])
        before = agree.lsh_attention(x, v, rotations, size, causal=True)
        v[:, 7:] += 10.0
        after = agree.lsh_attention(x, v, rotations, size, True)
        same(before[:, :7], after[:, :7], "Later values should not show in earlier positions.")


@pytest.mark.dtypes("float64")
def test_causal_in_several_rounds(agree, draw, planted):
    """Apply the causal mask in every round."""
    x, rotations = planted([THREES, SPREAD[:12], draw.integers(0, 4, 12).tolist()], 2)
    agree.within(IN_FLOAT64).lsh_attention(
        x, draw.normal(2, 12, x.shape[-1]), rotations, 4, causal=True
    )


def test_gradients(agree, draw, clear):
    """Propagate gradients to queries, keys and values, also through the scaling of the keys."""
    rotations = draw.normal(1, 5, 2)
    for causal in (False, True):
        qk, v = clear(rotations, 2, 12, 5), draw.normal(2, 12, 5)
        agree.gradients.lsh_attention(qk, v, rotations, 4, causal)


def test_gradients_of_several_rounds(agree, draw, planted):
    """Propagate gradients through the weights of the rounds."""
    x, rotations = planted([THREES, SPREAD[:12]], 2)
    agree.gradients.lsh_attention(2 * x, draw.normal(2, 12, x.shape[-1]), rotations, 4)


@pytest.mark.dtypes("float64")
def test_double_precision(agree, draw, clear):
    """Compute in float64 for float64 inputs, even if the rotations are float32."""
    rotations = draw.normal(2, 5, 2)
    x = clear(rotations.float(), 2, 12, 5, bucket_size=4)
    agree.within(IN_FLOAT64).lsh_attention(x, draw.normal(2, 12, 5), rotations.float(), 4)


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(agree, draw, planted, dtype):
    """Return half precision for half-precision inputs; compute scores in float32."""
    x, rotations = planted([[0, 1, 2, 0, 1, 3, 0, 2, 0, 0, 2, 1]], 2)
    v = draw.normal(2, 12, x.shape[-1])
    agree.lsh_attention(x, v, rotations, 4)
    agree.lsh_attention(x, v, rotations.to(dtype), 4, causal=True)


def test_zero_vectors(agree, draw):
    """Leave a zero key unscaled, and return no NaN."""
    for length in (1, 6):
        agree.lsh_attention(
            torch.zeros(2, length, 4), draw.normal(2, length, 4), draw.normal(1, 4, 2), length
        )


def test_views_and_shared_inputs(agree, draw, clear):
    """Accept transposed and expanded inputs, and one tensor as both `qk` and `v`."""
    rotations = draw.normal(1, 5, 2)
    x = clear(rotations, 12, 2, 5).transpose(0, 1)
    agree.lsh_attention(x, draw.normal(12, 2, 5).transpose(0, 1), rotations, 4)
    heads = clear(rotations, 2, 12, 3, 5).transpose(1, 2)
    agree.lsh_attention(heads, draw.normal(2, 12, 3, 5).transpose(1, 2), rotations, 4)
    agree.lsh_attention(x[:1].expand(3, 12, 5), draw.normal(12, 5).expand(3, 12, 5), rotations, 4)
    agree.lsh_attention(x, x, rotations, 4)


@pytest.mark.weight(1, elsewhere=7)
def test_devices(agree, draw, planted, device):
    """Return a result on the device of the inputs, with and without `causal`."""
    x, rotations = planted([THREES, SPREAD[:12]], 2, 3)
    agree.lsh_attention(x, draw.normal(2, 3, 12, x.shape[-1]), rotations, 4)
    agree.lsh_attention(x[0, 0], draw.normal(12, x.shape[-1]), rotations[:1], 4, causal=True)


def test_refuses_a_length_that_leaves_a_remainder(submission, refuses, draw, clear):
    """Raise a ValueError that states the length if it is not divisible by `bucket_size`."""
    rotations = draw.normal(1, 5, 2)
    x = clear(rotations, 2, 14, 5)
    submission.lsh_attention(x, draw.normal(2, 14, 5), rotations, 7)
    refuses(ValueError, mentions=14).lsh_attention(x, draw.normal(2, 14, 5), rotations, 4)
    refuses(ValueError, mentions=14).lsh_attention(x, draw.normal(2, 14, 5), rotations, 16)


def test_more_than_a_thousand_positions(agree, draw, planted):
    """Sort every position in sequences of more than a thousand positions."""
    x, rotations = planted([SPREAD * 80], 1)
    agree.lsh_attention(x, draw.normal(1, 1280, x.shape[-1]), rotations, 4)


# The next two tests count elements and operations for a single sequence and a fixed number of
# buckets. T is at least 16 * n_hashes * bucket_size and more than 4 * bucket_size * d, so that the
# scores and the keys of all windows stay below T x T elements.


@pytest.fixture
def long_input(draw, clear):
    def make(length, n_hashes):
        rotations = draw.normal(n_hashes, 5, 2)
        return clear(rotations, 1, length, 5, margin=0.01), draw.normal(1, length, 5), rotations, 4

    return make


@pytest.mark.weight(6)
def test_memory_stays_below_the_square(agree, count, long_input):
    """Allocate no tensor with T x T elements, and let memory grow more slowly than T²."""
    agree.lsh_attention(*long_input(256, 1))
    cost = {length: count.lsh_attention(*long_input(length, 2)) for length in (256, 512, 1024)}
    for length, counted in cost.items():
        expect(counted.largest < length * length, "A tensor has T x T elements.")
    # The exponent is 1.0 for correct programs and 2.0 for T x T tables.
    expect(
        growth_exponent(cost, "largest") < 1.5,
        "The largest tensor grows like the square of the length.",
    )
    # Measured by the operating system: a 2048 x 2048 table takes 16 MiB, correct programs 0 to 4.
    seen = count.outside.lsh_attention(*long_input(2048, 2))
    grown, held = seen.grown or 0, seen.held or 0
    expect(grown < 10 << 20, "Memory grows like the square of the length.")
    expect(held < 12 << 20, "Your module keeps as much memory as a T x T table takes.")


@pytest.mark.weight(6)
def test_work_stays_below_the_square(agree, count, long_input):
    """Use a number of operations that grows more slowly than the square of the length."""
    agree.lsh_attention(*long_input(256, 1))
    cost = {length: count.lsh_attention(*long_input(length, 2)) for length in (256, 512, 1024)}
    # The exponent is 1.0 for correct programs and 2.0 for a score per pair.
    expect(growth_exponent(cost, "flops") < 1.5, "The work grows like the square of the length.")


def test_more_hashes_come_closer(agree, draw, clear):
    """Approximate full attention better with more rounds of hashing."""
    # For correct programs and one draw of 8 sequences, the squared error with 8 rounds divided by
    # that with 1 was 0.21 on average, with standard deviation 0.03; the largest of 5000 draws was
    # 0.35, so P(ratio >= 0.6) < 1e-3 (with 99 % confidence). The median of 5 independent draws
    # fails only if 3 of them do: false rejection at most 10 * (1e-3)**3 = 1e-8 <= 1e-6.
    ratios = []
    for _ in range(5):
        rotations = draw.normal(8, 4, 4)
        qk, v = clear(rotations, 8, 32, 4, margin=0.005), draw.normal(8, 32, 4)
        one = agree.lsh_attention(qk, v, rotations[:1], 4)
        # Compare type and shape; the values are judged by their distance from full attention.
        eight = agree.within(atol=10.0).lsh_attention(qk, v, rotations, 4)
        errors = [(y - full_attention(qk, v)).square().mean() for y in (one, eight)]
        ratios.append(float(errors[1] / errors[0]))
    expect(
        statistics.median(ratios) < 0.6, "More rounds of hashing should bring the result closer."
    )


def test_two_calls_before_their_gradients(agree, draw, clear):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    rotations = draw.normal(1, 5, 2)
    first, second = (
        (clear(rotations, 2, 12, 5), draw.normal(2, 12, 5), rotations, 4, causal)
        for causal in (False, True)
    )
    agree.gradients.in_a_row.lsh_attention(first, second)
