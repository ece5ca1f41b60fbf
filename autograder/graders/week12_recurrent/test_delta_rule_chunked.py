"""Hidden graders for `delta_rule_chunked`. Keys have length 1 unless a test says otherwise."""

import pytest
import torch

from autograder.authors import expect, growth_exponent, same


def output(result):
    return result[0]


def last_state(result):
    return result[1]


@pytest.mark.weight(3)
def test_one_chunk(agree, written):
    """Return the outputs of the recurrence if one chunk covers the sequence."""
    agree.only(output).delta_rule_chunked(*written(2, 3, 6), 6)
    agree.only(output).delta_rule_chunked(*written(2, 3, 6), 50)


@pytest.mark.weight(4)
def test_chunks(agree, reference, written):
    """Return the same outputs for every chunk size."""
    arguments = written(2, 3, 12)
    whole, _ = reference.delta_rule(*arguments)
    for chunk in (1, 2, 3, 4, 6):
        found, _ = agree.only(output).delta_rule_chunked(*arguments, chunk)
        same(found, whole, f"With chunks of {chunk}, outputs differ from those of `delta_rule`.")


@pytest.mark.weight(2)
def test_last_chunk_is_shorter(agree, written):
    """Support lengths that are not a multiple of the chunk size."""
    for chunk in (2, 3, 4, 7):
        agree.delta_rule_chunked(*written(2, 2, 11), chunk)


@pytest.mark.weight(3)
def test_last_state(agree, written):
    """Return the state after the last token, for every chunk size."""
    arguments = written(2, 3, 12)
    for chunk in (1, 4, 5, 12, 30):
        agree.only(last_state).delta_rule_chunked(*arguments, chunk)


@pytest.mark.weight(3)
def test_from_a_state(agree, draw, written):
    """Continue from a given state, and leave it unchanged."""
    for chunk in (2, 5, 8):
        agree.delta_rule_chunked(*written(2, 3, 8), chunk, draw.normal(2, 3, 4, 5))


@pytest.mark.weight(2)
def test_in_two_calls(agree, written, split):
    """Return the same outputs and state for a sequence in two calls as in one."""
    arguments = written(2, 2, 11)
    first, second = split(arguments, 6)
    whole, end = agree.delta_rule_chunked(*arguments, 4)
    read, state = agree.delta_rule_chunked(*first, 4)
    rest, state = agree.delta_rule_chunked(*second, 4, state=state)
    same(torch.cat([read, rest], dim=2), whole, "In two calls, outputs differ.")
    same(state, end, "In two calls, the last state differs.")


@pytest.mark.weight(2)
def test_one_token(agree, draw, written):
    """Decode a single token from a state."""
    agree.delta_rule_chunked(*written(2, 3, 1), 4, draw.normal(2, 3, 4, 5))
    agree.delta_rule_chunked(*written(2, 3, 1), 1)


def test_default_chunk(agree, written):
    """Use chunks of 64 positions by default."""
    agree.delta_rule_chunked(*written(1, 2, 70))


@pytest.mark.weight(2)
def test_writing_strength(agree, written):
    """Correct the state in proportion to beta, which may be 0 or above 1."""
    q, k, v, beta = written(2, 3, 6)
    for scale in (0.0, 0.1, 1.9):
        agree.delta_rule_chunked(q, k, v, scale * beta, 3)


@pytest.mark.weight(2)
def test_each_head_has_its_strength(agree, draw, written):
    """Use the strength of each sequence, head and token."""
    q, k, v, _ = written(3, 4, 5)
    agree.delta_rule_chunked(q, k, v, draw.uniform(3, 4, 5, low=0.0, high=1.5), 3)


@pytest.mark.weight(2)
def test_keys_are_not_normalised(agree, written):
    """Use keys as they are, whatever their length is, and use no scale or feature map."""
    q, k, v, beta = written(2, 2, 4)
    agree.delta_rule_chunked(q, 0.6 * k, v, beta, 3)
    agree.delta_rule_chunked(3 * q, 1.4 * k, v, beta, 3)


@pytest.mark.weight(2)
def test_a_key_is_written_again(agree, written):
    """Replace the value of a key that is written a second time with beta 1."""
    _, k, v, beta = written(2, 2, 4)
    k = k[:, :, [0, 1, 0, 1]]
    for chunk in (2, 4):
        read, _ = agree.delta_rule_chunked(k, k, v, torch.ones_like(beta), chunk)
        same(read[:, :, 2], v[:, :, 2], "A key should be answered with the value written last.")


def test_sizes_of_heads(agree, draw, written):
    """Support values with fewer or more features than queries and keys."""
    for d_k, d_v in ((6, 2), (2, 6), (4, 4)):
        arguments = written(2, 2, 7, d_k=d_k, d_v=d_v)
        agree.delta_rule_chunked(*arguments, 3, draw.normal(2, 2, d_k, d_v))


def test_singleton_axes(agree, draw, written):
    """Keep axes of size 1, for a single sequence, head or feature."""
    for lead in ((1, 1, 5), (1, 3, 4), (3, 1, 4)):
        agree.delta_rule_chunked(*written(*lead), 2)
    agree.delta_rule_chunked(*written(2, 2, 5, d_k=1, d_v=1), 2, draw.normal(2, 2, 1, 1))


@pytest.mark.weight(2)
def test_gradients(agree, draw, written):
    """Propagate gradients through all chunks, to all inputs and the first state."""
    agree.gradients.delta_rule_chunked(*written(2, 2, 7), 3)
    agree.gradients.delta_rule_chunked(*written(2, 2, 7), 3, draw.normal(2, 2, 4, 5))


@pytest.mark.dtypes("float16", "bfloat16")
def test_halves(agree, draw, written, dtype):
    """Return outputs in v's dtype and the state in float32."""
    agree.within(0.02, 0.02).delta_rule_chunked(*written(2, 2, 9), 4)
    agree.within(0.02, 0.02).delta_rule_chunked(
        *written(2, 2, 9), 4, draw.normal(2, 2, 4, 5).float()
    )


@pytest.mark.dtypes("float64")
def test_double_precision(agree, written, dtype):
    """Return float64 for float64 inputs."""
    agree.delta_rule_chunked(*written(2, 2, 9), 4)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_small_corrections_in_halves(agree, draw, written, dtype):
    """Correct the state in at least float32: in float16, 4096 + 1 is 4096."""
    q, k, v, beta = written(1, 2, 20)
    state = draw.normal(1, 2, 4, 5).float().round() + 4096
    arguments = q, k, v, 1e-4 * beta, 4, state
    agree.within(0.1, 0).only(last_state).delta_rule_chunked(*arguments)


def test_views(agree, draw, written):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k, _, _ = (x.transpose(0, 2) for x in written(7, 3, 2))
    v, beta = draw.normal(1, 3, 7, 5), draw.uniform(2, 1, 7, low=0.2, high=1.0)
    state = draw.normal(2, 3, 5, 4).mT
    arguments = q, k, v.expand(2, 3, 7, 5), beta.expand(2, 3, 7), 3, state
    agree.delta_rule_chunked(*arguments)


@pytest.mark.weight(1, elsewhere=12)
def test_device(agree, draw, written, device):
    """Create all tensors on the device of the inputs."""
    agree.delta_rule_chunked(*written(2, 2, 7), 3)
    agree.delta_rule_chunked(*written(2, 2, 7), 3, draw.normal(2, 2, 4, 5))


def test_many_tokens(agree, written):
    """Read every token, even more than a thousand."""
    q, k, v, beta = written(1, 1, 1100, d_k=2, d_v=2)
    v[:, :, :60] += 40
    agree.within(1e-3, 1e-3).delta_rule_chunked(q, k, v, 0.002 * beta, 50)


@pytest.mark.weight(2)
def test_refuses_small_chunks(submission, refuses, written):
    """Raise ValueError if chunk is below 1, and state chunk."""
    submission.delta_rule_chunked(*written(1, 2, 4), 1)
    refuses(ValueError, mentions=0).delta_rule_chunked(*written(1, 2, 4), 0)
    refuses(ValueError, mentions=-3).delta_rule_chunked(*written(1, 2, 4), -3)


# With T = 512, d = 32 and chunks of 8, the largest tensor of a correct program has about 16,000
# elements, at most T · chunk · d = 131,072 if it multiplies elementwise. T x T has 262,144 and a
# state for each token 524,288.


@pytest.mark.weight(7)
def test_memory(agree, count, written):
    """Create no T x T tensor and no state per token."""
    agree.delta_rule_chunked(*written(1, 1, 48, d_k=32, d_v=32), 8)
    largest = count.delta_rule_chunked(*written(1, 1, 512, d_k=32, d_v=32), 8).largest
    expect(largest < 200_000, "A tensor is as large as T x T scores, or as a state per token.")


@pytest.mark.weight(6)
def test_work(agree, count, written):
    """Let work grow linearly with the number of tokens."""
    agree.delta_rule_chunked(*written(1, 1, 64), 16)
    costs = {
        tokens: count.delta_rule_chunked(*written(1, 1, tokens), 16) for tokens in (128, 256, 512)
    }
    growth = growth_exponent(costs, of="flops")
    expect(growth < 1.4, "Twice as many tokens take far more than twice the work.")


@pytest.mark.weight(7)
def test_steps(agree, count, written):
    """Do no step per token: find all corrections of a chunk together."""
    agree.delta_rule_chunked(*written(1, 1, 64), 32)
    ops = count.delta_rule_chunked(*written(1, 1, 512), 32).ops
    expect(ops < 1500, "There are several operations per token: solve for a chunk at once.")
