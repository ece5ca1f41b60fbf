"""Creates a tensor on the CPU.

Exercise: dequantize_kv
Believes: Unpacking is done on the CPU.
Shows: Inputs on a different device raise an error.
Hint: On which device are the tensors that you create?
Rejected by: test_device
Costs: 20 %
"""

def dequantize_kv(keys, values, bits=4, dtype=torch.float32):
    restored = []
    for codes, scale, zero in (keys, values):
        if bits == 4:
            codes = torch.stack([codes % 16, codes // 16], dim=-1).flatten(-2)
        restored.append((zero + scale * (codes + torch.zeros(codes.shape))).to(dtype))
    return (restored[0], restored[1])
