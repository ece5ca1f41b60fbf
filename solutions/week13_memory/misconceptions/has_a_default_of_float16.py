"""Returns float16 by default.

Exercise: dequantize_kv
Believes: A cache is used in half precision.
Shows: Without an argument, results are float16.
Hint: What is the default in the signature of the stub?
Rejected by: test_bytes
Costs: 25 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float16):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * codes).to(dtype))
    return (restored[0], restored[1])
