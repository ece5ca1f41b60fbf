"""Hidden graders for `RecurrentAttention`.

Weights are drawn with a standard deviation of 0.5, so that decays differ.
"""

import pytest
import torch

from autograder.authors import expect, growth_exponent, same


def output(result):
    return result[0]


def last_state(result):
    return result[1]


@pytest.fixture
def attention(agree):
    """Create a pair of layers."""
    return lambda *sizes: agree.weights(0.5).RecurrentAttention(*sizes)


@pytest.mark.weight(3)
def test_outputs(attention, draw):
    """Attend with a decay per head, normalise the output of each head, and project."""
    for width, heads in ((16, 4), (12, 2)):
        attention(width, heads).only(output)(draw.normal(2, 7, width))


@pytest.mark.weight(2)
def test_last_state(attention, draw):
    """Return the state (B, H, d, d) after the last position."""
    for width, heads in ((16, 4), (12, 2)):
        attention(width, heads).only(last_state)(draw.normal(2, 7, width))


def test_one_head_or_many(attention, draw):
    """Support a single head, and heads of width 2."""
    for width, heads in ((6, 1), (8, 4), (10, 5)):
        attention(width, heads)(draw.normal(2, 5, width))


@pytest.mark.weight(2)
def test_from_a_state(attention, draw):
    """Continue from a given state, and leave it unchanged."""
    attention(16, 4)(draw.normal(2, 6, 16), draw.normal(2, 4, 4, 4))
    attention(16, 4)(draw.normal(2, 1, 16), state=draw.normal(2, 4, 4, 4))


@pytest.mark.weight(3)
def test_prefill_and_decode(attention, draw):
    """Return the same outputs for a prompt followed by single tokens as for the whole sequence."""
    module, x = attention(16, 4), draw.normal(2, 9, 16)
    whole, end = module(x)
    state, outputs = None, []
    for piece in x.split((5, 1, 1, 2), dim=1):
        y, state = module(piece, state)
        outputs.append(y)
    same(torch.cat(outputs, dim=1), whole, "In several calls, outputs differ.")
    same(state, end, "In several calls, the last state differs.")


@pytest.mark.weight(2)
def test_each_state_is_a_sequence(attention, draw):
    """Store nothing in the module: the state passed decides which sequence continues."""
    module = attention(16, 4)
    _, one = module(draw.normal(2, 4, 16))
    _, other = module(draw.normal(2, 2, 16))
    module(draw.normal(2, 1, 16), one)
    module(draw.normal(2, 3, 16), other)
    module(draw.normal(2, 2, 16), one)
    module(draw.normal(4, 5, 16))


def test_nothing_looks_ahead(attention, draw):
    """Compute each output only from the positions up to its own."""
    module, x = attention(16, 4), draw.normal(2, 6, 16)
    changed = torch.cat([x[:, :4], draw.normal(2, 2, 16)], dim=1)
    before, after = module(x)[0], module(changed)[0]
    same(after[:, :4], before[:, :4], "A later token changes an earlier output.")


@pytest.mark.weight(2)
def test_strong_gates(attention, draw):
    """Return finite, correct results if gates are nearly closed: log(sigmoid(-1000)) is -1000."""
    module = attention(16, 4)
    module(400 * draw.normal(2, 6, 16))


def test_singleton_axes(attention, draw):
    """Keep axes of size 1, for a single sequence or position."""
    module = attention(16, 4)
    for batch, rows in ((1, 6), (3, 1), (1, 1)):
        module(draw.normal(batch, rows, 16))


@pytest.mark.weight(2)
def test_parameters(submission):
    """Have W_q, W_k, W_v and W_o without biases, and W_g with one feature per head and a bias."""
    module = submission.RecurrentAttention(12, 3)
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    expected = {f"W_{name}.weight": (12, 12) for name in "qkvo"}
    expected |= {"W_g.weight": (3, 12), "W_g.bias": (3,)}
    expect(shapes == expected, "Names or shapes of the parameters differ.")


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to the input, to the state and to all parameters."""
    module = agree.RecurrentAttention(16, 4)
    for rows in (5, 1):
        # Without a state, the first output can be so small that its norm amplifies rounding errors.
        module.within(1e-3).gradients(draw.normal(2, rows, 16), draw.normal(2, 4, 4, 4))


@pytest.mark.dtypes("float16", "bfloat16")
def test_halves(agree, draw, dtype):
    """Return outputs in the input's dtype and the state in float32."""
    module = agree.RecurrentAttention(16, 4)
    state = draw.like((2, 4, 4, 4), torch.float32)
    _, state = module.within(0.03, 0.03)(draw.normal(2, 6, 16), state)
    module.within(0.03, 0.03)(draw.normal(2, 1, 16), state)


@pytest.mark.dtypes("float64")
def test_double_precision(agree, draw, dtype):
    """Return float64 for a float64 layer."""
    agree.RecurrentAttention(16, 4)(draw.normal(2, 6, 16))


def test_views(attention, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    module, state = attention(16, 4), draw.normal(2, 4, 4, 4)
    module(draw.normal(5, 2, 16).transpose(0, 1), state.mT)
    module(draw.normal(1, 3, 16).expand(2, 3, 16))


@pytest.mark.weight(1, elsewhere=6)
def test_device(attention, draw, device):
    """Create all tensors on the device of the input."""
    module, x = attention(16, 4), draw.normal(2, 6, 16)
    _, state = module(x)
    module(x, state)


def test_long_sequences(attention, draw):
    """Support sequences of more than a thousand positions."""
    attention(8, 2).within(1e-3, 1e-3)(draw.normal(1, 1100, 8))


@pytest.mark.weight(4)
def test_memory(agree, count, draw):
    """Let memory grow linearly with the length: no s x s tensor."""
    module = agree.RecurrentAttention(8, 2)
    module(draw.normal(1, 100, 8))
    costs = {n: count.of(module.student)(draw.normal(1, n, 8)) for n in (256, 1024)}
    expect(costs[1024].largest < 1024 * 1024, "A tensor has as many elements as there are pairs.")
    expect(growth_exponent(costs) < 1.4, "The largest tensor grows faster than the length.")


@pytest.mark.weight(3)
def test_work_of_decoding(agree, count, draw):
    """Decode with the same work for each token, however many were read before."""
    module = agree.RecurrentAttention(16, 4)
    _, state = module(draw.normal(1, 3, 16))
    few = count.of(module.student)(draw.normal(1, 1, 16), state).flops
    _, state = module.only(last_state)(draw.normal(1, 200, 16), state)
    for _ in range(20):
        _, state = module.only(last_state)(draw.normal(1, 1, 16), state)
    many = count.of(module.student)(draw.normal(1, 1, 16), state).flops
    expect(many <= few, "The work of a step grows with the number of previous tokens.")


def test_refuses_sizes_that_do_not_fit(submission, refuses, draw):
    """Raise ValueError in the constructor if heads do not divide d_model; state d_model."""
    submission.RecurrentAttention(15, 5)(draw.normal(2, 5, 15))
    refuses(ValueError, mentions=14).RecurrentAttention(14, 4)
    refuses(ValueError, mentions=9).RecurrentAttention(9, 2)


def test_two_objects(attention, draw):
    """Keep two layers independent: each has its own number of heads."""
    one, other = attention(16, 4), attention(16, 2)
    one(draw.normal(2, 5, 16))
    other(draw.normal(2, 5, 16))
