"""Stores each 4-bit code in a byte of its own.

Exercise: quantize_kv
Believes: uint8 is the smallest dtype.
Shows: Codes are between 0 and 15, but take as much memory as 8-bit codes.
Hint: How many bytes do six 4-bit codes take?
Rejected by: test_bytes
Costs: 40 %
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
        quantized.append((codes, scale, zero))
    return (quantized[0], quantized[1])
