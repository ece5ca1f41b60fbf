"""Reads bytes as signed numbers.

Exercise: dequantize_kv
Believes: Bytes are between -128 and 127.
Shows: Codes above 127 become negative.
Hint: Which number is the byte 200?
Rejected by: test_large_codes
Costs: 30 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * (codes.to(torch.int8) if bits == 8 else codes)).to(dtype))
    return (restored[0], restored[1])
