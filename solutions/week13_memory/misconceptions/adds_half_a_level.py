"""Adds half a level.

Exercise: dequantize_kv
Believes: The middle of a level is the best estimate.
Shows: All results are too large by half of scale.
Hint: Quantization rounds to the nearest level. Where is the level of code 0?
Rejected by: test_round_trip
Costs: 35 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * (codes + 0.5)).to(dtype))
    return (restored[0], restored[1])
