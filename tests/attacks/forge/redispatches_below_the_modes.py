"""Line 35. Redispatches an operator with a chosen set of dispatch keys.

Variants: cpu dense undefined
Expected: softmax=forbidden|crashed|wrong
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    key = getattr(torch._C.DispatchKey, {"cpu": "CPU", "dense": "Dense", "undefined": "Undefined"}[VARIANT])
    return torch.ops.aten._softmax.default.redispatch(torch._C.DispatchKeySet(key), x, dim, False)
