"""Converts before it computes.

Exercise: dequantize_kv
Believes: The result has this dtype anyway.
Shows: In float16, large scales or zeros overflow.
Hint: In which dtype is your sum computed?
Rejected by: test_computed_before_conversion
Costs: 15 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append(zero.to(dtype) + scale.to(dtype) * codes.to(dtype))
    return (restored[0], restored[1])
