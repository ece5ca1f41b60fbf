"""Subtracts zero from the codes.

Exercise: dequantize_kv
Believes: zero is a code.
Shows: Results are wrong unless zero is 0.
Hint: Is `zero` a code, or a number of the tensor?
Rejected by: test_bytes
Costs: 35 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((scale * (codes - zero)).to(dtype))
    return (restored[0], restored[1])
