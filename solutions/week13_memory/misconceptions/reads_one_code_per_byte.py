"""Reads one code per byte.

Exercise: dequantize_kv
Believes: A byte is a code.
Shows: For 4 bits, results have half of the width.
Hint: How many codes does a byte contain for 4 bits?
Rejected by: test_four_bits
Costs: 45 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        restored.append((zero + scale * codes if bits == 8 else zero + scale * codes.repeat_interleave(2, dim=-1)).to(dtype))
    return (restored[0], restored[1])
