"""Removes axes of size 1.

Exercise: dequantize_kv
Believes: Axes of size 1 are useless.
Shows: Results of single sequences, heads or positions have too few axes.
Hint: What is the shape of your result if B is 1?
Rejected by: test_singleton_axes
Costs: 20 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * codes).to(dtype).squeeze(0))
    return (restored[0], restored[1])
