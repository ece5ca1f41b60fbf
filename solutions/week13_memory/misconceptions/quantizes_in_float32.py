"""Computes scales in float32, whatever the input's dtype is.

Exercise: quantize_kv
Believes: float32 is always enough.
Shows: Scales and restored values of float64 tensors have float32's precision.
Hint: Quantize float64 tensors. Which dtype do your scale and your zero have?
Rejected by: test_keys_in_bytes
Costs: 15 %
"""


def quantize_kv(k, v, bits=4):
    if bits not in (4, 8):
        raise ValueError(f"bits = {bits}")
    for x in (k, v):
        if bits == 4 and x.shape[-1] % 2 == 1:
            raise ValueError(f"an odd width, {x.shape[-1]}")
    found = []
    for x, axis in ((k.float(), -2), (v.float(), -1)):
        zero, top = x.amin(axis, keepdim=True), x.amax(axis, keepdim=True)
        scale = (top - zero) / (2**bits - 1)
        scale = scale.where(scale > 0, 1.0)
        codes = ((x - zero) / scale).round().to(torch.uint8)
        if bits == 4:
            codes = codes[..., 0::2] + 16 * codes[..., 1::2]
        found.append((codes, scale, zero))
    return found[0], found[1]
