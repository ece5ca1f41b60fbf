"""Hidden graders for `dequantize_kv`."""

import pytest
import torch

from autograder.authors import same


@pytest.fixture
def quantized(draw):
    """Draw codes, scales and zeros: `quantized(2, 3, 5)` for B, H, T and 6 and 4 bytes."""

    def make(batch, heads, length, widths=(6, 4)):
        lead, both = (batch, heads, length), []
        for bytes_each, groups in zip(widths, ("features", "positions"), strict=True):
            codes = draw.integers(0, 256, *lead, bytes_each).to(torch.uint8)
            both.append((codes, groups))
        return both

    def complete(*sizes, bits=8, widths=(6, 4)):
        result = []
        for codes, groups in make(*sizes, widths=widths):
            width = codes.shape[-1] * (8 // bits)
            shape = (1, width) if groups == "features" else (sizes[2], 1)
            lead = sizes[:2]
            scale = draw.uniform(*lead, *shape, low=0.1, high=0.5)
            result.append((codes, scale, draw.normal(*lead, *shape)))
        return result

    return complete


@pytest.mark.weight(3)
def test_bytes(agree, quantized):
    """Return zero + scale · code for 8 bits."""
    agree.dequantize_kv(*quantized(2, 3, 5), 8)


@pytest.mark.weight(4)
def test_four_bits(agree, quantized):
    """Restore two features from each byte for 4 bits, the lower half first."""
    agree.dequantize_kv(*quantized(2, 3, 5, bits=4), 4)
    agree.dequantize_kv(*quantized(1, 2, 7, bits=4, widths=(1, 3)))


@pytest.mark.weight(2)
def test_large_codes(agree, quantized):
    """Restore codes up to 255, and halves up to 15."""
    for bits in (4, 8):
        keys, values = quantized(1, 2, 4, bits=bits)
        full = torch.full_like(keys[0], 255)
        agree.dequantize_kv((full, *keys[1:]), (values[0] // 2 + 128, *values[1:]), bits)


@pytest.mark.weight(2)
def test_dtype_of_the_result(agree, quantized):
    """Return the requested dtype, float32 by default."""
    for wanted in (torch.float16, torch.bfloat16, torch.float64, torch.float32):
        agree.dequantize_kv(*quantized(2, 2, 4), 8, wanted)
        agree.dequantize_kv(*quantized(2, 2, 4, bits=4), bits=4, dtype=wanted)


@pytest.mark.weight(2)
def test_computed_before_conversion(agree, quantized):
    """Compute in the dtype of scale, and convert the result."""
    (codes, scale, zero), values = quantized(1, 2, 6)
    keys = codes, scale + 300, zero - 70000
    agree.within(0.5, 1e-3).dequantize_kv(keys, values, 8, torch.float16)


@pytest.mark.weight(2)
def test_round_trip(submission, reference, draw):
    """Restore what `quantize_kv` stored: numbers on a level come back as they were."""
    for bits in (4, 8):
        k, v = (draw.integers(0, 2**bits, 1, 2, 9, 10).float() for _ in range(2))
        k[:, :, 0], k[:, :, 1], v[..., 0], v[..., 1] = 0, 2**bits - 1, 0, 2**bits - 1
        found = submission.dequantize_kv(*reference.quantize_kv(k, v, bits), bits)
        same(found[0], k, "Keys are not restored.")
        same(found[1], v, "Values are not restored.")


def test_singleton_axes(agree, quantized):
    """Keep axes of size 1, for a single sequence, head, position or byte."""
    for sizes in ((1, 1, 5), (3, 1, 1), (1, 2, 4)):
        agree.dequantize_kv(*quantized(*sizes, bits=4, widths=(1, 1)), 4)
        agree.dequantize_kv(*quantized(*sizes, widths=(1, 1)), 8)


def test_views(agree, draw, quantized):
    """Accept transposed inputs, and leave them unchanged."""
    for bits in (4, 8):
        keys, values = quantized(2, 3, 5, bits=bits)
        transposed = keys[0].mT.contiguous().mT
        agree.dequantize_kv((transposed, *keys[1:]), values, bits)


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, quantized, device):
    """Create all tensors on the device of the codes."""
    for bits in (4, 8):
        agree.dequantize_kv(*quantized(2, 2, 4, bits=bits), bits)
