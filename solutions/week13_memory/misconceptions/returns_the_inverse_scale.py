"""Returns levels per unit.

Exercise: quantize_kv
Believes: A scale is what numbers are multiplied by.
Shows: Codes are correct; scales are inverted.
Hint: How far apart are two levels? The docstring calls this distance `scale`.
Rejected by: test_scale_and_zero
Costs: 30 %
"""

def quantize_kv(k, v, bits=4):
    if bits not in (4, 8):
        raise ValueError(f'bits = {bits}: choose 4 or 8')
    quantized = []
    for x, dim in ((k, -2), (v, -1)):
        if bits == 4 and x.shape[-1] % 2:
            raise ValueError(f'a width of {x.shape[-1]} is odd: two codes share a byte')
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        zero = wide.amin(dim, keepdim=True)
        scale = (wide.amax(dim, keepdim=True) - zero) / (2 ** bits - 1)
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        quantized.append((codes, 1 / scale, zero))
    return (quantized[0], quantized[1])
