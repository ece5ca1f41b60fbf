"""Restores the keys twice.

Exercise: dequantize_kv
Believes: A loop over both is a copy of one.
Shows: The second result contains the keys.
Hint: Compare your two results. What should the second one be?
Rejected by: test_bytes
Costs: 35 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * codes).to(dtype))
    return (restored[0], restored[0])
