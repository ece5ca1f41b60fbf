"""Leaves out the minimum.

Exercise: dequantize_kv
Believes: Code 0 stands for the number 0.
Shows: Results are shifted.
Hint: Which number does code 0 stand for?
Rejected by: test_bytes
Costs: 40 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((scale * codes).to(dtype))
    return (restored[0], restored[1])
