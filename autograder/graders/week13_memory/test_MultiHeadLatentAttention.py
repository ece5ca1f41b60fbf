"""Hidden graders for `MultiHeadLatentAttention`."""

import pytest
import torch

from autograder.authors import expect, same


def output(result):
    return result[0]


def last_cache(result):
    return result[1]


@pytest.mark.weight(4)
def test_outputs(agree, draw):
    """Attend with keys and values from the latents, plus the rotary part of the scores."""
    for sizes in ((16, 4, 6, 4), (12, 2, 5, 2)):
        agree.MultiHeadLatentAttention(*sizes).only(output)(draw.normal(2, 7, sizes[0]))


@pytest.mark.weight(3)
def test_cache(agree, draw):
    """Return a latent vector and a rotated key for each token."""
    for sizes in ((16, 4, 6, 4), (12, 2, 5, 2)):
        agree.MultiHeadLatentAttention(*sizes).only(last_cache)(draw.normal(2, 7, sizes[0]))


@pytest.mark.weight(2)
def test_cache_size(submission, draw):
    """Cache exactly d_c + d_r numbers per token, whatever the number of heads is."""
    for heads in (1, 4, 8):
        module = submission.MultiHeadLatentAttention(16, heads, 6, 2)
        _, cache = module(draw.normal(2, 5, 16))
        expect(cache.shape == (2, 5, 8), "The cache should be (B, T, d_c + d_r).")
        _, cache = module(draw.normal(2, 1, 16), cache)
        expect(cache.shape == (2, 6, 8), "The cache should grow by one row per token.")


@pytest.mark.weight(3)
def test_from_a_cache(agree, draw):
    """Continue after the positions of a given cache, and leave it unchanged."""
    module = agree.MultiHeadLatentAttention(16, 4, 6, 4)
    module(draw.normal(2, 1, 16), draw.normal(2, 5, 10))
    module(draw.normal(2, 3, 16), cache=draw.normal(2, 4, 10))


@pytest.mark.weight(3)
def test_prefill_and_decode(agree, draw):
    """Return the same outputs for a prompt followed by single tokens as for the whole sequence."""
    module, x = agree.MultiHeadLatentAttention(16, 4, 6, 4), draw.normal(2, 9, 16)
    whole, end = module(x)
    cache, outputs = None, []
    for piece in x.split((4, 1, 1, 3), dim=1):
        y, cache = module(piece, cache)
        outputs.append(y)
    same(torch.cat(outputs, dim=1), whole, "In several calls, outputs differ.")
    same(cache, end, "In several calls, the last cache differs.")


@pytest.mark.weight(2)
def test_each_cache_is_a_sequence(agree, draw):
    """Store nothing in the module: the cache passed decides which sequence continues."""
    module = agree.MultiHeadLatentAttention(16, 4, 6, 4)
    _, one = module(draw.normal(2, 4, 16))
    _, other = module(draw.normal(2, 2, 16))
    module(draw.normal(2, 1, 16), one)
    module(draw.normal(2, 3, 16), other)
    module(draw.normal(2, 2, 16), one)
    module(draw.normal(4, 5, 16))


def test_nothing_looks_ahead(agree, draw):
    """Compute each output only from the positions up to its own."""
    module, x = agree.MultiHeadLatentAttention(16, 4, 6, 4), draw.normal(2, 6, 16)
    changed = torch.cat([x[:, :4], draw.normal(2, 2, 16)], dim=1)
    before, after = module(x)[0], module(changed)[0]
    same(after[:, :4], before[:, :4], "A later token changes an earlier output.")


@pytest.mark.weight(2)
def test_scale(agree, draw):
    """Divide the sum of both products by √(d + d_r)."""
    for sizes in ((16, 4, 6, 12), (16, 1, 6, 2), (12, 6, 6, 2)):
        agree.weights(0.6).MultiHeadLatentAttention(*sizes)(draw.normal(2, 6, sizes[0]))


@pytest.mark.weight(2)
def test_positions(agree, draw):
    """Rotate the queries of W_qr and the key of W_kr by position, and nothing else."""
    module = agree.weights(0.6).MultiHeadLatentAttention(16, 4, 6, 8)
    module(draw.normal(1, 40, 16))
    module(draw.normal(2, 2, 16), draw.normal(2, 60, 14))


def test_sizes(agree, draw):
    """Support one head, heads of width 2, and latents narrower or wider than the model."""
    for sizes in ((6, 1, 3, 2), (8, 4, 1, 6), (10, 5, 24, 2)):
        agree.MultiHeadLatentAttention(*sizes)(draw.normal(2, 5, sizes[0]))


def test_singleton_axes(agree, draw):
    """Keep axes of size 1, for a single sequence or position."""
    module = agree.MultiHeadLatentAttention(16, 4, 6, 4)
    for batch, rows in ((1, 6), (3, 1), (1, 1)):
        module(draw.normal(batch, rows, 16))
    module(draw.normal(1, 1, 16), draw.normal(1, 1, 10))


@pytest.mark.weight(2)
def test_parameters(submission):
    """Have the seven layers with the stated names and sizes, without biases."""
    module = submission.MultiHeadLatentAttention(12, 3, 5, 2)
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    expected = {
        "W_q.weight": (12, 12),
        "W_qr.weight": (6, 12),
        "W_dkv.weight": (5, 12),
        "W_uk.weight": (12, 5),
        "W_uv.weight": (12, 5),
        "W_kr.weight": (2, 12),
        "W_o.weight": (12, 12),
    }
    expect(shapes == expected, "Names or shapes of the parameters differ.")


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to the input, to the cache and to all parameters."""
    module = agree.MultiHeadLatentAttention(16, 4, 6, 4)
    module.gradients(draw.normal(2, 5, 16))
    module.gradients(draw.normal(2, 2, 16), draw.normal(2, 3, 10))


@pytest.mark.dtypes("float16", "bfloat16", "float64")
def test_dtypes(agree, draw, dtype):
    """Return outputs and cache in the input's dtype."""
    module = agree.MultiHeadLatentAttention(16, 4, 6, 4)
    _, cache = module.within(0.03, 0.03)(draw.normal(2, 6, 16))
    module.within(0.03, 0.03)(draw.normal(2, 1, 16), cache)


def test_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    module = agree.MultiHeadLatentAttention(16, 4, 6, 4)
    module(draw.normal(5, 2, 16).transpose(0, 1), draw.normal(2, 10, 3).mT)
    module(draw.normal(1, 3, 16).expand(2, 3, 16))


@pytest.mark.weight(1, elsewhere=12)
def test_device(agree, draw, device):
    """Create all tensors on the device of the input."""
    module, x = agree.MultiHeadLatentAttention(16, 4, 6, 4), draw.normal(2, 6, 16)
    _, cache = module(x)
    module(x, cache)


def test_refuses_sizes_that_do_not_fit(submission, refuses, draw):
    """Raise ValueError if heads do not divide d_model or d_rope is odd; state the number."""
    submission.MultiHeadLatentAttention(15, 5, 4, 2)(draw.normal(2, 5, 15))
    refuses(ValueError, mentions=14).MultiHeadLatentAttention(14, 4, 6, 2)
    refuses(ValueError, mentions=3).MultiHeadLatentAttention(16, 4, 6, 3)


def test_two_objects(agree, draw):
    """Keep two layers independent: each has its own sizes."""
    one = agree.MultiHeadLatentAttention(16, 4, 6, 4)
    other = agree.MultiHeadLatentAttention(16, 2, 3, 2)
    one(draw.normal(2, 5, 16))
    other(draw.normal(2, 5, 16))
    one(draw.normal(2, 3, 16))
