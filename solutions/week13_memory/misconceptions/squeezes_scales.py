"""Removes all axes of size 1.

Exercise: quantize_kv
Believes: squeeze() removes the reduced axis.
Shows: Scales of single sequences, heads or positions have too few axes.
Hint: Which axes does your program remove if B is 1?
Rejected by: test_singleton_axes
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
        scale = (wide.amax(dim, keepdim=True) - zero) / (2 ** bits - 1)
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        quantized.append((codes, scale if min(x.shape[:2]) > 1 else scale.squeeze(0), zero))
    return (quantized[0], quantized[1])
