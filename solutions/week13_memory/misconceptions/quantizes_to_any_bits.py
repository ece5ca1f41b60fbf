"""Accepts other numbers of bits.

Exercise: quantize_kv
Believes: The formula works for any number of bits.
Shows: 2 or 16 bits raise no error.
Hint: What happens to 16-bit codes in a uint8?
Rejected by: test_refuses
Costs: 20 %
"""

def quantize_kv(k, v, bits=4):
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
        quantized.append((codes, scale, zero))
    return (quantized[0], quantized[1])
