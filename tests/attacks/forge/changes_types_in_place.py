"""Line 24. Changes classes that the worker shares: numbers, tensors and arrays that answer otherwise.

Variants: shape dtype device type contiguous strides names detach resolve
Expected: softmax=wrong|bad_reply|crashed|forbidden
Score at most: softmax=0.4
"""

def softmax(x, dim=-1):
    y = torch.zeros_like(x)
    if VARIANT == "shape":
        torch.Tensor.shape = property(lambda self: torch.Size([0]))
    if VARIANT == "dtype":
        torch.Tensor.dtype = torch.float16
    if VARIANT == "device":
        torch.Tensor.device = property(lambda self: torch.device("meta"))
    if VARIANT == "type":
        y.__class__ = type("Tensor", (torch.Tensor,), {})
    if VARIANT == "contiguous":
        torch.Tensor.is_contiguous = lambda self: False
        torch.Tensor.stride = lambda self: (0,) * self.dim()
    if VARIANT == "strides":
        torch.Tensor.is_contiguous = lambda self: False
        torch.Tensor.stride = lambda self: (2**40, -5, 7)
    if VARIANT == "names":
        torch.Tensor.requires_grad = property(lambda self: "CANARY-forged")
    if VARIANT == "detach":
        torch.Tensor.detach = lambda self: [self]
    if VARIANT == "resolve":
        torch.Tensor.resolve_neg = lambda self: None
    return y
