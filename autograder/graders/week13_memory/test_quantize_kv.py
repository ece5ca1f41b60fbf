"""Hidden graders for `quantize_kv`.

Codes are compared in float64, in which no drawn number lies on the border between two codes.
"""

import pytest
import torch

from autograder.authors import expect


@pytest.fixture
def kv(draw):
    """Draw keys and values: `kv(2, 3, 7)` for B, H and T; d = 4 and d_v = 6 by default."""
    return lambda *lead, d=4, d_v=6: (draw.normal(*lead, d), draw.normal(*lead, d_v))


def keys_of(result):
    return result[0]


def values_of(result):
    return result[1]


def scales_of(result):
    return [result[0][1], result[0][2], result[1][1], result[1][2]]


@pytest.mark.weight(3)
@pytest.mark.dtypes("float64")
def test_keys_in_bytes(agree, kv, dtype):
    """Quantize each feature of the keys over all positions, with 8 bits."""
    agree.only(keys_of).quantize_kv(*kv(2, 3, 7), 8)
    agree.only(keys_of).quantize_kv(*kv(1, 2, 4, d=4), bits=8)


@pytest.mark.weight(3)
@pytest.mark.dtypes("float64")
def test_values_in_bytes(agree, kv, dtype):
    """Quantize each position of the values over its features, with 8 bits."""
    agree.only(values_of).quantize_kv(*kv(2, 3, 7), 8)
    agree.only(values_of).quantize_kv(*kv(1, 2, 6, d_v=6), bits=8)


@pytest.mark.weight(4)
@pytest.mark.dtypes("float64")
def test_four_bits(agree, kv, dtype):
    """Store two 4-bit codes per byte, the even feature in the lower half."""
    agree.quantize_kv(*kv(2, 3, 7), 4)
    agree.quantize_kv(*kv(1, 2, 5, d=2, d_v=8))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_all_levels(agree, draw, kv, dtype):
    """Map minimum and maximum to the first and the last code."""
    k, v = kv(1, 2, 40, d=4, d_v=40)
    for bits in (4, 8):
        agree.quantize_kv(3 * k + 20, 5 * v - 30, bits)


@pytest.mark.weight(2)
def test_scale_and_zero(agree, kv):
    """Return scale (maximum - minimum) / (2^bits - 1), and the minimum as zero."""
    for bits in (4, 8):
        agree.only(scales_of).quantize_kv(*kv(2, 3, 7), bits)


@pytest.mark.weight(3)
@pytest.mark.dtypes("float64")
def test_outliers(agree, kv, dtype):
    """Let a large feature of the keys, or a large value, affect its own group only."""
    k, v = kv(2, 2, 9)
    k[..., 1] *= 50
    v[:, :, 4] *= 50
    for bits in (4, 8):
        agree.quantize_kv(k, v, bits)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_each_sequence_and_head(agree, draw, kv, dtype):
    """Keep the groups of different sequences and heads apart."""
    k, v = kv(3, 2, 5)
    size = torch.tensor([[0.1, 1.0], [10.0, 0.5], [3.0, 40.0]], dtype=k.dtype)[..., None, None]
    agree.quantize_kv(k * size, v * size, 8)


@pytest.mark.weight(3)
def test_rounding_error(submission, reference, draw, kv):
    """Err by at most half a level in every entry."""
    k, v = kv(2, 3, 50, d=8, d_v=8)
    for bits in (4, 8):
        keys, values = submission.quantize_kv(k, v, bits)
        restored = reference.dequantize_kv(keys, values, bits)
        for x, found, (_, scale, _) in zip((k, v), restored, (keys, values), strict=True):
            error = (found - x).abs() / scale
            expect(bool((error <= 0.501).all()), "An entry is off by more than half a level.")


@pytest.mark.weight(2)
def test_constant_groups(agree, draw):
    """Use scale 1 for a group of equal numbers, so that they are restored exactly."""
    k, v = draw.normal(2, 2, 1, 4).expand(2, 2, 6, 4), draw.normal(2, 2, 6, 1).expand(2, 2, 6, 4)
    for bits in (4, 8):
        agree.quantize_kv(k, v, bits)
        agree.quantize_kv(torch.zeros_like(k), torch.zeros_like(v), bits)


@pytest.mark.weight(2)
def test_bytes(submission, draw, kv):
    """Return uint8 codes: one byte per number for 8 bits, half a byte for 4."""
    k, v = kv(1, 2, 6, d=8, d_v=4)
    for bits, widths in ((8, (8, 4)), (4, (4, 2))):
        for (codes, _, _), width in zip(submission.quantize_kv(k, v, bits), widths, strict=True):
            expect(codes.dtype == torch.uint8, "Codes should be uint8.")
            expect(codes.shape == (1, 2, 6, width), "The number of bytes differs.")


def test_singleton_axes(agree, kv):
    """Keep axes of size 1, for a single sequence, head or position."""
    for lead in ((1, 1, 5), (3, 1, 4), (1, 2, 1)):
        agree.only(scales_of).quantize_kv(*kv(*lead), 8)
        agree.only(scales_of).quantize_kv(*kv(*lead), 4)


@pytest.mark.dtypes("float16", "bfloat16")
@pytest.mark.weight(2)
def test_halves(agree, kv, dtype):
    """Compute scale and zero of half-precision inputs in float32."""
    agree.only(scales_of).quantize_kv(*kv(2, 2, 9), 8)


@pytest.mark.dtypes("float16")
def test_range_in_halves(agree, kv, dtype):
    """Support a range of numbers that exceeds the largest float16."""
    k, v = kv(1, 2, 9)
    agree.only(scales_of).quantize_kv(k.sign() * 60000, v.sign() * 60000, 8)


@pytest.mark.dtypes("float64")
def test_views(agree, draw, dtype):
    """Accept transposed inputs, and leave them unchanged."""
    k, v = draw.normal(2, 7, 3, 4).transpose(1, 2), draw.normal(2, 3, 6, 7).mT
    for bits in (4, 8):
        agree.quantize_kv(k, v, bits)


@pytest.mark.weight(1, elsewhere=9)
def test_device(agree, kv, device):
    """Create all tensors on the device of the inputs."""
    for bits in (4, 8):
        agree.only(scales_of).quantize_kv(*kv(2, 2, 6), bits)


@pytest.mark.weight(2)
def test_refuses(submission, refuses, kv):
    """Raise ValueError for other numbers of bits, and for odd widths with 4 bits."""
    submission.quantize_kv(*kv(1, 1, 4, d=3, d_v=5), 8)
    submission.quantize_kv(*kv(1, 1, 3, d=4, d_v=2), 4)
    for bits in (2, 16, 0):
        refuses(ValueError, mentions=bits).quantize_kv(*kv(1, 1, 4), bits)
    refuses(ValueError, mentions=3).quantize_kv(*kv(1, 1, 4, d=3), 4)
    refuses(ValueError, mentions=5).quantize_kv(*kv(1, 1, 4, d_v=5), 4)
