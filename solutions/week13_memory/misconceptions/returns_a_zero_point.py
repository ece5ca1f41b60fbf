"""Returns the zero point as a code.

Exercise: quantize_kv
Believes: The zero point is the code of the number 0.
Shows: Codes and scales are correct; zero is not the minimum.
Hint: Which number does code 0 stand for? The docstring calls this number `zero`.
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
        quantized.append((codes, scale, -zero / scale))
    return (quantized[0], quantized[1])
