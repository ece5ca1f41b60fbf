"""Refuses odd widths with 8 bits, too.

Exercise: quantize_kv
Believes: Widths must be even.
Shows: An odd width with 8 bits raises an error.
Hint: Why must the width be even? Does the reason apply to 8 bits?
Rejected by: test_refuses
Costs: 15 %
"""

def quantize_kv(k, v, bits=4):
    if bits not in (4, 8):
        raise ValueError(f'bits = {bits}: choose 4 or 8')
    quantized = []
    for x, dim in ((k, -2), (v, -1)):
        if x.shape[-1] % 2:
            raise ValueError(f'a width of {x.shape[-1]} is odd: two codes share a byte')
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        zero = wide.amin(dim, keepdim=True)
        scale = (wide.amax(dim, keepdim=True) - zero) / (2 ** bits - 1)
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        quantized.append((codes, scale, zero))
    return (quantized[0], quantized[1])
