"""Line 28. Returns values that no comparison with a tolerance may accept.

Variants: nan inf minus huge tiny
Expected: softmax=wrong|crashed
Score at most: softmax=0.34
"""

def softmax(x, dim=-1):
    return torch.full_like(x, {"nan": float("nan"), "inf": float("inf"), "minus": float("-inf"), "huge": 1e30, "tiny": 0.0}[VARIANT])
