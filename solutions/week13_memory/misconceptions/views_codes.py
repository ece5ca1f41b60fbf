"""Uses view on the codes.

Exercise: dequantize_kv
Believes: Codes are contiguous.
Shows: Transposed codes raise an error.
Hint: What does view need? Which method needs less?
Rejected by: test_views
Costs: 20 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        codes = codes.view(-1).view(codes.shape)
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * codes).to(dtype))
    return (restored[0], restored[1])
