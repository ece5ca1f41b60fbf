"""Computes the range in the dtype of the input.

Exercise: quantize_kv
Believes: A range is as small as the numbers.
Shows: The range of large float16 numbers is infinite.
Hint: What is 60000 + 60000 in float16?
Rejected by: test_range_in_halves
Costs: 20 %
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
        scale = (x.amax(dim, keepdim=True) - x.amin(dim, keepdim=True)).to(wide.dtype) / (2 ** bits - 1)
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        quantized.append((codes, scale, zero))
    return (quantized[0], quantized[1])
