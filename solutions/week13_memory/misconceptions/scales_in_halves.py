"""Computes scale and zero in the dtype of the input.

Exercise: quantize_kv
Believes: Scales are small.
Shows: In half precision, scales have the wrong dtype.
Hint: Which dtype do scales have for float16 inputs?
Rejected by: test_halves
Costs: 20 %
"""

def quantize_kv(k, v, bits=4):
    if bits not in (4, 8):
        raise ValueError(f'bits = {bits}: choose 4 or 8')
    quantized = []
    for x, dim in ((k, -2), (v, -1)):
        if bits == 4 and x.shape[-1] % 2:
            raise ValueError(f'a width of {x.shape[-1]} is odd: two codes share a byte')
        wide = x
        zero = wide.amin(dim, keepdim=True)
        scale = (wide.amax(dim, keepdim=True) - zero) / (2 ** bits - 1)
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        quantized.append((codes, scale, zero))
    return (quantized[0], quantized[1])
