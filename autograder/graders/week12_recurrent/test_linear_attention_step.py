"""Hidden graders for `linear_attention_step`."""

import pytest
import torch

from autograder.authors import expect, same


def output(result):
    return result[0]


@pytest.fixture
def token(qkv):
    """Draw q, k and v of one token: `token(2, 3)` for B and H."""
    return lambda batch, heads, **sizes: tuple(x[:, :, 0] for x in qkv(batch, heads, 1, **sizes))


@pytest.fixture
def state_of(draw):
    """Draw the state after some tokens; the sums of features are positive."""

    def make(batch, heads, d_k=4, d_v=5):
        return draw.normal(batch, heads, d_k, d_v), draw.uniform(batch, heads, d_k, low=1, high=9)

    return make


@pytest.mark.weight(3)
def test_next_token(agree, token, state_of):
    """Return the output and a new state with the token added; leave the given state unchanged."""
    agree.linear_attention_step(state_of(2, 3), *token(2, 3))


@pytest.mark.weight(2)
def test_first_token(agree, token):
    """Begin with state None: the first output is the first value."""
    q, k, v = token(2, 3)
    first, _ = agree.linear_attention_step(None, q, k, v)
    same(first, v, "The first output should be the first value.")


@pytest.mark.weight(3)
def test_a_sequence(agree, reference, qkv):
    """Return the outputs of the parallel form, one token at a time."""
    q, k, v = qkv(2, 3, 7)
    state, outputs = None, []
    for t in range(7):
        read, state = agree.linear_attention_step(state, q[:, :, t], k[:, :, t], v[:, :, t])
        outputs.append(read)
    whole = reference.linear_attention(q, k, v)
    same(torch.stack(outputs, dim=2), whole, "Outputs differ from those of the parallel form.")


@pytest.mark.weight(2)
def test_state_of_a_token(agree, token):
    """Return the state (φ(k) vᵀ, φ(k)) after one token: key features first."""
    for sizes in ({"d_k": 3, "d_v": 6}, {"d_k": 5, "d_v": 5}):
        agree.only(lambda result: result[1]).linear_attention_step(None, *token(2, 2, **sizes))


@pytest.mark.weight(2)
def test_equal_values(agree, draw, token, state_of):
    """Divide by the sum of the weights of all tokens: equal values are returned as they are."""
    q, k, v = token(2, 3)
    _, keys = state_of(2, 3)
    state = keys.unsqueeze(-1) * v.unsqueeze(-2), keys
    read, _ = agree.linear_attention_step(state, q, k, v)
    same(read, v, "With equal values, the output should be that value.")


def test_small_weights(agree, draw, token):
    """Divide by the sum of the weights itself, however small it is."""
    _, _, v = token(2, 3)
    q, k = (draw.uniform(2, 3, 4, low=-6.0, high=-5.0) for _ in range(2))
    read, _ = agree.linear_attention_step(None, q, k, v)
    same(read, v, "With a single token, the output should be its value.")


def test_sizes_of_heads(agree, token, state_of):
    """Support values with fewer or more features than queries and keys."""
    for sizes in ({"d_k": 6, "d_v": 2}, {"d_k": 2, "d_v": 6}, {"d_k": 4, "d_v": 4}):
        agree.linear_attention_step(state_of(2, 2, **sizes), *token(2, 2, **sizes))


def test_singleton_axes(agree, token, state_of):
    """Keep axes of size 1, for a single sequence, head or feature."""
    for batch, heads in ((1, 3), (3, 1), (1, 1)):
        agree.linear_attention_step(state_of(batch, heads), *token(batch, heads))
    agree.linear_attention_step(state_of(2, 2, 1, 1), *token(2, 2, d_k=1, d_v=1))


def test_state_of_more_than_one_caller(agree, token, state_of):
    """Keep nothing between calls: continue from the state of each call."""
    one, other = state_of(2, 3), state_of(2, 3)
    for state in (one, other, None, one):
        agree.linear_attention_step(state, *token(2, 3))


@pytest.mark.weight(2)
def test_gradients(agree, token, state_of):
    """Propagate gradients to token and state."""
    agree.gradients.only(output).linear_attention_step(None, *token(2, 3))
    agree.gradients.linear_attention_step(state_of(2, 3), *token(2, 3))


@pytest.mark.dtypes("float16", "bfloat16")
def test_halves(agree, token, state_of, dtype):
    """Return the output in v's dtype and the state in float32."""
    agree.within(0.02, 0.02).linear_attention_step(None, *token(2, 3))
    state = tuple(x.float() for x in state_of(2, 3))
    agree.within(0.02, 0.02).linear_attention_step(state, *token(2, 3))


@pytest.mark.dtypes("float64")
def test_double_precision(agree, token, state_of, dtype):
    """Return float64 for float64 inputs."""
    agree.linear_attention_step(None, *token(2, 3))
    agree.linear_attention_step(state_of(2, 3), *token(2, 3))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_long_sums_in_halves(agree, token, state_of, dtype):
    """Add in at least float32: in float16, 4096 + 1 is 4096."""
    products, keys = (x.float().round() + 4096 for x in state_of(2, 3))
    agree.within(0.05, 0).only(lambda result: result[1]).linear_attention_step(
        (products, keys), *token(2, 3)
    )


def test_views(agree, draw, token, state_of):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k, v = (x.transpose(0, 1) for x in token(3, 2))
    products, keys = state_of(2, 3, 5, 4)
    keys = keys[..., :1].expand(2, 3, 4)
    agree.linear_attention_step((products.mT, keys), q, k, v)


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, token, state_of, device):
    """Create all tensors on the device of the inputs."""
    agree.linear_attention_step(None, *token(2, 3))
    agree.linear_attention_step(state_of(2, 3), *token(2, 3))


@pytest.mark.weight(2)
def test_work(agree, count, token):
    """Do the same work for every token, however many were read before."""
    agree.linear_attention_step(None, *token(1, 2, d_k=8, d_v=8))
    state, work = None, []
    for _ in range(60):
        counted = count.linear_attention_step(state, *token(1, 2, d_k=8, d_v=8))
        state = counted.value[1]
        work.append(counted.flops)
    expect(work[-1] <= work[1], "The work of a step grows with the number of previous tokens.")
