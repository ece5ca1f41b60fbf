"""Hidden graders for `linear_attention`."""

import pytest
import torch

from autograder.authors import same


@pytest.mark.weight(3)
def test_values(agree, qkv):
    """Return the means of the values, weighted with φ(q) · φ(k), over the keys up to the query."""
    agree.linear_attention(*qkv(2, 3, 6))
    agree.linear_attention(*qkv(1, 2, 9))


@pytest.mark.weight(2)
def test_nothing_looks_ahead(agree, draw, qkv):
    """Compute each output only from the keys and values up to its own position."""
    q, k, v = qkv(2, 2, 7)
    k_changed = torch.cat([k[:, :, :4], 2 * draw.normal(2, 2, 3, 4)], dim=2)
    v_changed = torch.cat([v[:, :, :4], draw.normal(2, 2, 3, 5)], dim=2)
    before, after = agree.linear_attention(q, k, v), agree.linear_attention(q, k_changed, v_changed)
    same(after[:, :, :4], before[:, :, :4], "A later token changes an earlier output.")


def test_first_token(agree, qkv):
    """Return the first value at the first position, which sees only itself."""
    q, k, v = qkv(2, 3, 5)
    output = agree.linear_attention(q, k, v)
    same(output[:, :, 0], v[:, :, 0], "The first output should be the first value.")


@pytest.mark.weight(2)
def test_equal_values(agree, draw, qkv):
    """Return the common value if all values are equal: the weights sum to 1."""
    q, k, _ = qkv(2, 3, 6)
    v = draw.normal(2, 3, 1, 5).expand(2, 3, 6, 5)
    same(agree.linear_attention(q, k, v), v, "With equal values, outputs should be that value.")


def test_sizes_of_heads(agree, qkv):
    """Support values with fewer or more features than queries and keys."""
    for d_k, d_v in ((6, 2), (2, 6), (4, 4)):
        agree.linear_attention(*qkv(2, 2, 5, d_k=d_k, d_v=d_v))


@pytest.mark.weight(2)
def test_no_scale(agree, qkv):
    """Use queries and keys as they are: no factor 1/√d, whatever d is."""
    for d_k in (1, 9, 16):
        q, k, v = qkv(1, 2, 6, d_k=d_k)
        agree.linear_attention(2 * q, 2 * k, v)


def test_keys_of_different_lengths(agree, qkv):
    """Preserve the ratios between the weights of keys with small and large norms."""
    q, k, v = qkv(2, 2, 6)
    agree.linear_attention(q, k * torch.linspace(0.2, 3.0, 6).unsqueeze(-1), v)


def test_singleton_axes(agree, qkv):
    """Keep axes of size 1, for a single sequence, head, position or feature."""
    for lead in ((1, 1, 4), (1, 3, 1), (3, 1, 1), (1, 1, 1)):
        agree.linear_attention(*qkv(*lead))
    agree.linear_attention(*qkv(2, 2, 4, d_k=1, d_v=1))


@pytest.mark.weight(2)
def test_gradients(agree, qkv):
    """Propagate gradients to queries, keys and values."""
    agree.gradients.linear_attention(*qkv(2, 3, 5))


def test_every_dtype(agree, qkv, dtype):
    """Return the dtype of the values."""
    agree.linear_attention(*qkv(2, 2, 6))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_sums_in_halves(agree, draw, qkv, dtype):
    """Compute sums in at least float32: large weights would overflow in float16."""
    q, k, v = qkv(1, 1, 40, d_k=16)
    agree.linear_attention(20 * q.abs() + 30, 20 * k.abs() + 30, v)


def test_views(agree, draw, qkv):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k, _ = (x.transpose(0, 2) for x in qkv(6, 3, 2))
    agree.linear_attention(q, k, draw.normal(1, 3, 6, 5).expand(2, 3, 6, 5))


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, qkv, device):
    """Create all tensors on the device of the inputs."""
    agree.linear_attention(*qkv(2, 2, 5))


def test_many_keys(agree, qkv):
    """Attend to every previous key, even with more than a thousand keys."""
    q, k, v = qkv(1, 1, 1100, d_k=2, d_v=2)
    v[:, :, :60] += 40  # Forgotten keys change the mean visibly in every draw.
    agree.linear_attention(q, k, v)
