"""Divides the range by 2^bits, and packs codes with bit operations.

Exercise: quantize_kv
Believes: 8 bits have 256 levels.
Shows: The highest code does not fit its bits: it becomes 0, or changes the other code of the byte.
Hint: Which code does the maximum of a group get, and which is the largest that fits?
Rejected by: test_all_levels
Costs: 25 %
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
        scale = (wide.amax(dim, keepdim=True) - zero) / 2 ** bits
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        quantized.append((codes, scale, zero))
    return (quantized[0], quantized[1])
