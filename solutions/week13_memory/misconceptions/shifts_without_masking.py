"""Does not remove the upper half.

Exercise: dequantize_kv
Believes: The lower half of a byte is the byte.
Shows: Even features have codes above 15.
Hint: What is the lower half of the byte 255?
Rejected by: test_large_codes
Costs: 35 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * codes).to(dtype))
    return (restored[0], restored[1])
