"""Divides codes by scale.

Exercise: dequantize_kv
Believes: Dequantizing is the inverse of a multiplication.
Shows: Results are wrong unless scale is 1.
Hint: How far apart are the numbers of codes 0 and 1?
Rejected by: test_bytes
Costs: 35 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + codes / scale).to(dtype))
    return (restored[0], restored[1])
