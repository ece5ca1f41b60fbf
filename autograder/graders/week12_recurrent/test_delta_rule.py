"""Hidden graders for `delta_rule`. Keys have length 1 unless a test says otherwise."""

import pytest
import torch

from autograder.authors import same


def output(result):
    return result[0]


def last_state(result):
    return result[1]


@pytest.mark.weight(3)
def test_outputs(agree, written):
    """Move the answer to each key towards its value, then read the state with the query."""
    agree.only(output).delta_rule(*written(2, 3, 6))
    agree.only(output).delta_rule(*written(1, 2, 9))


@pytest.mark.weight(2)
def test_last_state(agree, written):
    """Return the state after the last token: rows belong to features of keys."""
    for sizes in ({}, {"d_k": 5, "d_v": 5}):
        agree.only(last_state).delta_rule(*written(2, 3, 6, **sizes))


@pytest.mark.weight(2)
def test_a_key_is_written_again(agree, draw, written):
    """Replace the value of a key that is written a second time with beta 1."""
    _, k, v, beta = written(2, 2, 4)
    k = k[:, :, [0, 1, 0, 1]]
    read, _ = agree.delta_rule(k, k, v, torch.ones_like(beta))
    same(read[:, :, 2], v[:, :, 2], "A key should be answered with the value written last.")


@pytest.mark.weight(2)
def test_writing_strength(agree, written):
    """Correct the state in proportion to beta, which may be 0 or above 1."""
    q, k, v, beta = written(2, 3, 6)
    for scale in (0.0, 0.1, 1.9):
        agree.delta_rule(q, k, v, scale * beta)


@pytest.mark.weight(2)
def test_each_head_has_its_strength(agree, draw, written):
    """Use the strength of each sequence, head and token."""
    q, k, v, _ = written(3, 4, 5)
    agree.delta_rule(q, k, v, draw.uniform(3, 4, 5, low=0.0, high=1.5))


@pytest.mark.weight(2)
def test_keys_are_not_normalised(agree, qkv, written):
    """Use keys as they are, whatever their length is, and use no scale or feature map."""
    q, k, v, beta = written(2, 2, 4)
    agree.delta_rule(q, 0.6 * k, v, beta)
    agree.delta_rule(3 * q, 1.4 * k, v, beta)


@pytest.mark.weight(3)
def test_from_a_state(agree, draw, written):
    """Continue from a given state, and leave it unchanged."""
    agree.delta_rule(*written(2, 3, 6), draw.normal(2, 3, 4, 5))
    agree.delta_rule(*written(2, 3, 1), draw.normal(2, 3, 4, 5))


def test_in_two_calls(agree, written, split):
    """Return the same outputs and state for a sequence in two calls as in one."""
    arguments = written(2, 2, 9)
    first, second = split(arguments, 4)
    whole, end = agree.delta_rule(*arguments)
    read, state = agree.delta_rule(*first)
    rest, state = agree.delta_rule(*second, state=state)
    same(torch.cat([read, rest], dim=2), whole, "In two calls, outputs differ.")
    same(state, end, "In two calls, the last state differs.")


def test_nothing_looks_ahead(agree, written):
    """Compute each output only from the tokens up to its own position."""
    arguments = written(2, 2, 7)
    changed = tuple(torch.cat([x[:, :, :4], -0.5 * x[:, :, 4:]], dim=2) for x in arguments)
    before = agree.only(output).delta_rule(*arguments)
    after = agree.only(output).delta_rule(*changed)
    same(after[0][:, :, :4], before[0][:, :, :4], "A later token changes an earlier output.")


def test_sizes_of_heads(agree, draw, written):
    """Support values with fewer or more features than queries and keys."""
    for d_k, d_v in ((6, 2), (2, 6), (4, 4)):
        agree.delta_rule(*written(2, 2, 5, d_k=d_k, d_v=d_v), draw.normal(2, 2, d_k, d_v))


def test_singleton_axes(agree, written):
    """Keep axes of size 1, for a single sequence, head, position or feature."""
    for lead in ((1, 1, 4), (1, 3, 1), (3, 1, 1), (1, 1, 1)):
        agree.delta_rule(*written(*lead))
    agree.delta_rule(*written(2, 2, 4, d_k=1, d_v=1))


@pytest.mark.weight(2)
def test_gradients(agree, draw, written):
    """Propagate gradients through all steps, to all inputs and the first state."""
    agree.gradients.delta_rule(*written(2, 2, 5))
    agree.gradients.delta_rule(*written(2, 2, 5), draw.normal(2, 2, 4, 5))


@pytest.mark.dtypes("float16", "bfloat16")
def test_halves(agree, draw, written, dtype):
    """Return outputs in v's dtype and the state in float32."""
    agree.within(0.02, 0.02).delta_rule(*written(2, 2, 6))
    agree.within(0.02, 0.02).delta_rule(*written(2, 2, 6), draw.normal(2, 2, 4, 5).float())


@pytest.mark.dtypes("float64")
def test_double_precision(agree, written, dtype):
    """Return float64 for float64 inputs."""
    agree.delta_rule(*written(2, 2, 6))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_small_corrections_in_halves(agree, draw, written, dtype):
    """Correct the state in at least float32: in float16, 4096 + 1 is 4096."""
    q, k, v, beta = written(1, 2, 20)
    state = draw.normal(1, 2, 4, 5).float().round() + 4096
    arguments = q, k, v, 1e-4 * beta, state
    agree.within(0.1, 0).only(last_state).delta_rule(*arguments)


def test_views(agree, draw, written):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k, _, _ = (x.transpose(0, 2) for x in written(6, 3, 2))
    v, beta = draw.normal(1, 3, 6, 5), draw.uniform(2, 1, 6, low=0.2, high=1.0)
    state = draw.normal(2, 3, 5, 4).mT
    agree.delta_rule(q, k, v.expand(2, 3, 6, 5), beta.expand(2, 3, 6), state)


@pytest.mark.weight(1, elsewhere=6)
def test_device(agree, draw, written, device):
    """Create all tensors on the device of the inputs."""
    agree.delta_rule(*written(2, 2, 5))
    agree.delta_rule(*written(2, 2, 5), draw.normal(2, 2, 4, 5))


def test_many_tokens(agree, written):
    """Read every token, even more than a thousand."""
    q, k, v, beta = written(1, 1, 1100, d_k=2, d_v=2)
    v[:, :, :60] += 40
    agree.within(1e-3, 1e-3).delta_rule(q, k, v, 0.002 * beta)


@pytest.mark.weight(2)
def test_refuses_other_shapes(submission, refuses, written):
    """Raise ValueError if the shape of beta is not (B, H, T), and state its shape."""
    q, k, v, beta = written(2, 3, 6)
    submission.delta_rule(q, k, v, beta)
    for shape, shown in (((3, 6), 3), ((2, 3, 1), 1), ((2, 3, 6, 1), 1), ((1, 3, 6), 1)):
        refuses(ValueError, mentions=shown).delta_rule(q, k, v, torch.ones(shape))
