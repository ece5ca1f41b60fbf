"""Hidden graders for `attention_backward`.

With a single visible key, the gradient of a score is a difference of two equal sums, which need not
be 0 after rounding. So tolerances do not depend on the largest entry only.
"""

import pytest
import torch

from autograder.authors import all_finite, expect

QUERIES, KEYS, VALUES = range(3)
ROUNDING = 1e-5  # of float32, for terms of size 1


@pytest.fixture
def inputs(draw):
    """Draw q (..., n, d), k (..., m, d), v (..., m, d_v) and grad_out (..., n, d_v).

    By default, m = n and d_v = d.
    """

    def make(*lead, n=4, m=None, d=5, d_v=None, std=1.0):
        m, d_v = n if m is None else m, d if d_v is None else d_v
        q, k = draw.normal(*lead, n, d, std=std), draw.normal(*lead, m, d, std=std)
        return q, k, draw.normal(*lead, m, d_v), draw.normal(*lead, n, d_v)

    return make


def sighted(draw, *shape):
    """Draw a mask that allows each query at least one key."""
    one = draw.integers(0, shape[-1], *shape[:-1])
    return draw.bools(*shape) | torch.nn.functional.one_hot(one, shape[-1]).bool()


@pytest.mark.weight(3)
def test_gradient_of_the_values(agree, inputs):
    """Return the gradient of the loss with respect to the values."""
    agree.only(lambda grads: grads[VALUES]).attention_backward(*inputs(2, n=4, m=6, d_v=3))


@pytest.mark.weight(3)
def test_gradient_of_the_queries(agree, inputs):
    """Return the gradient of the loss with respect to the queries."""
    agree.only(lambda grads: grads[QUERIES]).attention_backward(*inputs(2, n=4, m=6, d_v=3))


@pytest.mark.weight(3)
def test_gradient_of_the_keys(agree, inputs):
    """Return the gradient of the loss with respect to the keys."""
    agree.only(lambda grads: grads[KEYS]).attention_backward(*inputs(2, n=4, m=6, d_v=3))


def test_order(agree, inputs):
    """Return the gradients of queries, keys and values, in this order, also if shapes are equal."""
    agree.attention_backward(*inputs(2))


@pytest.mark.weight(2)
def test_more_keys_or_queries(agree, draw, inputs):
    """Support more or fewer keys than queries, also with a mask (n, m)."""
    for n, m in ((4, 6), (7, 3)):
        agree.attention_backward(*inputs(2, n=n, m=m))
        agree.within(ROUNDING, ROUNDING).attention_backward(
            *inputs(2, n=n, m=m), sighted(draw, n, m)
        )


def test_size_of_the_values(agree, inputs):
    """Support values with fewer or more features than the keys."""
    for d_v in (1, 3, 8):
        agree.attention_backward(*inputs(2, d_v=d_v))


def test_any_leading_dimensions(agree, inputs):
    """Compute separate gradients for each sequence and head, without or with a batch."""
    for lead in ((), (1,), (3,), (2, 3)):
        agree.attention_backward(*inputs(*lead))


def test_scale(agree, inputs):
    """Scale the gradients of queries and keys correctly for small and large heads."""
    for d in (2, 16):
        agree.attention_backward(*inputs(2, d=d, d_v=4))


def test_singleton_axes(agree, inputs):
    """Keep axes of size 1, for a single query, key or feature."""
    near = agree.within(ROUNDING, ROUNDING)
    near.attention_backward(*inputs(2, n=1, m=6))
    near.attention_backward(*inputs(2, m=1))
    near.attention_backward(*inputs(1, n=3, d=1, d_v=1))


@pytest.mark.weight(3)
def test_masks(agree, draw, inputs):
    """Let masked keys neither get nor cause a gradient, with one mask or one for each sequence."""
    near = agree.within(ROUNDING, ROUNDING)
    for shape in ((4, 4), (2, 4, 4), (2, 1, 4)):
        near.attention_backward(*inputs(2), sighted(draw, *shape))
    near.attention_backward(*inputs(2, 3), torch.ones(4, 4).tril().bool())


@pytest.mark.weight(2)
def test_fully_masked_rows(submission, agree, draw, inputs):
    """Return zeros for the gradient of a fully masked query, and no NaN."""
    mask = sighted(draw, 4, 4)
    mask[2] = False
    given = inputs(2)
    agree.within(ROUNDING, ROUNDING).attention_backward(*given, mask)
    grad_q = submission.attention_backward(*given, mask)[QUERIES]
    all_finite(grad_q)
    expect(not grad_q[:, 2].any(), "A query with no visible key should have a gradient of 0.")


def test_large_scores(agree, inputs):
    """Return finite gradients for scores whose exponentials overflow."""
    agree.within(1e-3, 1e-4).attention_backward(*inputs(2, std=10.0))


def test_every_dtype(agree, draw, inputs, dtype):
    """Return gradients in the inputs' dtype, also with a mask."""
    rounding = 16 * torch.finfo(dtype).eps
    near = agree.within(rounding, rounding)
    near.attention_backward(*inputs(2))
    mask = sighted(draw, 4, 4)
    mask[1] = False
    near.attention_backward(*inputs(2), mask)


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    agree.attention_backward(
        draw.normal(4, 2, 5).transpose(0, 1),
        draw.normal(1, 4, 5).expand(2, 4, 5),
        draw.normal(2, 3, 4).mT,
        draw.normal(2, 1, 3).expand(2, 4, 3),
    )


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, inputs, device):
    """Create all tensors on the device of the queries."""
    near = agree.within(ROUNDING, ROUNDING)
    near.attention_backward(*inputs(2, 3))
    near.attention_backward(*inputs(2, 3), sighted(draw, 4, 4))


def test_many_keys(agree, inputs):
    """Include every key, even with more than a thousand keys."""
    agree.attention_backward(*inputs(n=2, m=1100))
