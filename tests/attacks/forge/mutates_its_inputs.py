"""Line 31. Computes in the caller's memory.

Expected: softmax=wrong|crashed
Score at most: softmax=0.4
"""

def softmax(x, dim=-1):
    with torch.no_grad():
        x -= x.amax(dim, keepdim=True)
        x.exp_()
        x /= x.sum(dim, keepdim=True)
    return x
