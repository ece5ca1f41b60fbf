"""Hidden graders for `chunked_linear_attention`. Decays are drawn between exp(-1) and 1."""

import pytest
import torch

from autograder.authors import all_finite, expect, growth_exponent, same


def output(result):
    return result[0]


def last_state(result):
    return result[1]


@pytest.mark.weight(3)
def test_one_chunk(agree, gated):
    """Return the outputs of the parallel form if one chunk covers the sequence."""
    agree.only(output).chunked_linear_attention(*gated(2, 3, 6), 6)
    agree.only(output).chunked_linear_attention(*gated(2, 3, 6), 50)


@pytest.mark.weight(4)
def test_chunks(agree, reference, gated):
    """Return the same outputs for every chunk size."""
    arguments = gated(2, 3, 12)
    whole = reference.gated_linear_attention(*arguments)
    for chunk in (1, 2, 3, 4, 6):
        found, _ = agree.only(output).chunked_linear_attention(*arguments, chunk)
        same(found, whole, f"With chunks of {chunk}, outputs differ from the parallel form.")


@pytest.mark.weight(2)
def test_last_chunk_is_shorter(agree, gated):
    """Support lengths that are not a multiple of the chunk size."""
    for chunk in (2, 3, 4, 7):
        agree.chunked_linear_attention(*gated(2, 2, 11), chunk)


@pytest.mark.weight(3)
def test_last_state(agree, gated):
    """Return the state after the last token, for every chunk size."""
    arguments = gated(2, 3, 12)
    for chunk in (1, 4, 5, 12, 30):
        agree.only(last_state).chunked_linear_attention(*arguments, chunk)


@pytest.mark.weight(3)
def test_from_a_state(agree, draw, gated):
    """Continue from a given state, which decays as the tokens are read, and leave it unchanged."""
    for chunk in (2, 5, 8):
        state = draw.normal(2, 3, 4, 5)
        agree.chunked_linear_attention(*gated(2, 3, 8), chunk, state)


@pytest.mark.weight(2)
def test_in_two_calls(agree, gated, split):
    """Return the same outputs and state for a sequence in two calls as in one."""
    arguments = gated(2, 2, 11)
    first, second = split(arguments, 6)
    whole, end = agree.chunked_linear_attention(*arguments, 4)
    read, state = agree.chunked_linear_attention(*first, 4)
    rest, state = agree.chunked_linear_attention(*second, 4, state=state)
    same(torch.cat([read, rest], dim=2), whole, "In two calls, outputs differ.")
    same(state, end, "In two calls, the last state differs.")


@pytest.mark.weight(2)
def test_one_token(agree, draw, gated):
    """Decode a single token from a state."""
    agree.chunked_linear_attention(*gated(2, 3, 1), 4, draw.normal(2, 3, 4, 5))
    agree.chunked_linear_attention(*gated(2, 3, 1), 1)


def test_default_chunk(agree, gated):
    """Use chunks of 64 positions by default."""
    agree.chunked_linear_attention(*gated(1, 2, 70))


@pytest.mark.weight(2)
def test_each_head_has_its_decay(agree, draw, gated):
    """Use the decays of each sequence and head, also between chunks."""
    q, k, v, _ = gated(3, 4, 9)
    factors = torch.tensor([0.01, 0.3, 1.0, 4.0])[None, :, None]
    log_decay = -factors * draw.uniform(3, 4, 9, low=0.5, high=1.0)
    agree.chunked_linear_attention(q, k, v, log_decay, 3, draw.normal(3, 4, 4, 5))


@pytest.mark.weight(3)
@pytest.mark.dtypes("float64")
def test_strong_decay(agree, draw, gated):
    """Return finite, correct results if the logarithms sum to far below -1000."""
    for least in (-40.0, -800.0):
        q, k, v, log_decay = gated(2, 2, 60, least=least)
        log_decay[:, :, 28:33] = 0.0
        state = draw.normal(2, 2, 4, 5)
        for chunk in (16, 60):
            result = agree.within(1e-7).chunked_linear_attention(q, k, v, log_decay, chunk, state)
            all_finite(result[0])


def test_sizes_of_heads(agree, draw, gated):
    """Support values with fewer or more features than queries and keys."""
    for d_k, d_v in ((6, 2), (2, 6), (4, 4)):
        arguments = gated(2, 2, 7, d_k=d_k, d_v=d_v)
        agree.chunked_linear_attention(*arguments, 3, draw.normal(2, 2, d_k, d_v))


def test_singleton_axes(agree, draw, gated):
    """Keep axes of size 1, for a single sequence, head or feature."""
    for lead in ((1, 1, 5), (1, 3, 4), (3, 1, 4)):
        agree.chunked_linear_attention(*gated(*lead), 2)
    agree.chunked_linear_attention(*gated(2, 2, 5, d_k=1, d_v=1), 2, draw.normal(2, 2, 1, 1))


@pytest.mark.weight(2)
def test_gradients(agree, draw, gated):
    """Propagate gradients through all chunks, to all inputs and the first state."""
    agree.gradients.chunked_linear_attention(*gated(2, 2, 7), 3)
    agree.gradients.chunked_linear_attention(*gated(2, 2, 7), 3, draw.normal(2, 2, 4, 5))


@pytest.mark.dtypes("float16", "bfloat16")
def test_halves(agree, draw, gated, dtype):
    """Return outputs in v's dtype and the state in float32."""
    agree.within(0.02, 0.02).chunked_linear_attention(*gated(2, 2, 9), 4)
    state = draw.normal(2, 2, 4, 5).float()
    agree.within(0.02, 0.02).chunked_linear_attention(*gated(2, 2, 9), 4, state)


@pytest.mark.dtypes("float64")
def test_double_precision(agree, gated, dtype):
    """Return float64 for float64 inputs."""
    agree.chunked_linear_attention(*gated(2, 2, 9), 4)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_long_sums_in_halves(agree, draw, gated, dtype):
    """Add to the state in at least float32: in float16, 4096 + 1 is 4096."""
    q, k, v, log_decay = gated(1, 2, 40)
    state = draw.normal(1, 2, 4, 5).float().round() + 4096
    arguments = q, k, v, torch.zeros_like(log_decay), 4, state
    agree.within(0.1, 0).only(last_state).chunked_linear_attention(*arguments)


def test_views(agree, draw, gated):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k, _, _ = (x.transpose(0, 2) for x in gated(7, 3, 2))
    v, log_decay = draw.normal(1, 3, 7, 5), draw.uniform(2, 1, 7, low=-1.0, high=0.0)
    state = draw.normal(2, 3, 5, 4).mT
    arguments = q, k, v.expand(2, 3, 7, 5), log_decay.expand(2, 3, 7), 3, state
    agree.chunked_linear_attention(*arguments)


@pytest.mark.weight(1, elsewhere=12)
def test_device(agree, draw, gated, device):
    """Create all tensors on the device of the inputs."""
    agree.chunked_linear_attention(*gated(2, 2, 7), 3)
    agree.chunked_linear_attention(*gated(2, 2, 7), 3, draw.normal(2, 2, 4, 5))


def test_many_tokens(agree, gated):
    """Remember every token, even after more than a thousand."""
    q, k, v, log_decay = gated(1, 1, 1100, least=-1e-4, d_k=2, d_v=2)
    v[:, :, :60] += 40
    agree.within(0.01, 0.001).chunked_linear_attention(q, k, v, log_decay, 50)


@pytest.mark.weight(2)
def test_refuses_small_chunks(submission, refuses, gated):
    """Raise ValueError if chunk is below 1, and state chunk."""
    submission.chunked_linear_attention(*gated(1, 2, 4), 1)
    refuses(ValueError, mentions=0).chunked_linear_attention(*gated(1, 2, 4), 0)
    refuses(ValueError, mentions=-3).chunked_linear_attention(*gated(1, 2, 4), -3)


# With T = 512, d = 32 and chunks of 8, the largest tensor of a correct program has about 16,000
# elements, at most T · chunk · d = 131,072 if it multiplies elementwise. T x T has 262,144 and a
# state for each token 524,288.


@pytest.mark.weight(7)
def test_memory(agree, count, gated):
    """Create no T x T tensor and no state per token."""
    agree.chunked_linear_attention(*gated(1, 1, 48, d_k=32, d_v=32), 8)
    arguments = gated(1, 1, 512, d_k=32, d_v=32)
    largest = count.chunked_linear_attention(*arguments, 8).largest
    expect(largest < 200_000, "A tensor is as large as T x T scores, or as a state per token.")


@pytest.mark.weight(6)
def test_work(agree, count, gated):
    """Let work grow linearly with the number of tokens."""
    agree.chunked_linear_attention(*gated(1, 1, 64), 16)
    costs = {
        tokens: count.chunked_linear_attention(*gated(1, 1, tokens), 16)
        for tokens in (128, 256, 512)
    }
    growth = growth_exponent(costs, of="flops")
    expect(growth < 1.4, "Twice as many tokens take far more than twice the work.")


@pytest.mark.weight(7)
def test_steps(agree, count, gated):
    """Do no step per token: the number of operations grows with the number of chunks."""
    agree.chunked_linear_attention(*gated(1, 1, 256), 128)
    ops = count.chunked_linear_attention(*gated(1, 1, 1024), 256).ops
    expect(ops < 1024, "There are as many operations as tokens: compute a chunk at once.")
