"""Joins all lower halves and all upper halves.

Exercise: dequantize_kv
Believes: Unpacking is concatenating.
Shows: The order of the features is wrong.
Hint: Which two features does byte 0 contain?
Rejected by: test_four_bits
Costs: 30 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.cat([codes % 16, codes // 16], dim=-1)
        restored.append((zero + scale * codes).to(dtype))
    return (restored[0], restored[1])
