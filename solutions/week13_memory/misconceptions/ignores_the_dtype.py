"""Returns the dtype of scale.

Exercise: dequantize_kv
Believes: The caller can convert.
Shows: The dtype differs from the requested one.
Hint: Where does your program use `dtype`?
Rejected by: test_dtype_of_the_result
Costs: 25 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append(zero + scale * codes)
    return (restored[0], restored[1])
