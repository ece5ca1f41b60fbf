"""Takes the upper half of a byte for the even feature.

Exercise: dequantize_kv
Believes: The leading digits come first.
Shows: Neighbouring features are exchanged.
Hint: Which codes does the byte 1 contain, and in which order?
Rejected by: test_four_bits
Costs: 30 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes // 16, codes % 16], dim=-1).flatten(-2)
        restored.append((zero + scale * codes).to(dtype))
    return (restored[0], restored[1])
