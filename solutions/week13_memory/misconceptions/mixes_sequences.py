"""Takes minimum and maximum over all sequences and heads.

Exercise: quantize_kv
Believes: A batch is quantized together.
Shows: Correct for a single sequence and head.
Hint: Do two sequences of a batch affect each other in your program?
Rejected by: test_each_sequence_and_head
Costs: 35 %
"""

def quantize_kv(k, v, bits=4):
    if bits not in (4, 8):
        raise ValueError(f'bits = {bits}: choose 4 or 8')
    quantized = []
    for x, dim in ((k, -2), (v, -1)):
        if bits == 4 and x.shape[-1] % 2:
            raise ValueError(f'a width of {x.shape[-1]} is odd: two codes share a byte')
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        zero = wide.amin((0, 1, dim), keepdim=True).expand(wide.amin(dim, keepdim=True).shape)
        scale = (wide.amax((0, 1, dim), keepdim=True) - zero) / (2 ** bits - 1)
        scale = torch.where(scale > 0, scale, 1.0)
        codes = ((wide - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        quantized.append((codes, scale, zero))
    return (quantized[0], quantized[1])
