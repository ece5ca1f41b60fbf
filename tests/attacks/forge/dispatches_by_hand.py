"""Line 35. Names the kernel's key itself, past autograd or past what was put in its place.

Variants: cpu autograd functional meta composite backend lazy sparse
Expected: softmax=forbidden|crashed|wrong
Score at most: softmax=0
"""

_KEY = {
    "cpu": "CPU", "autograd": "AutogradCPU", "functional": "Functionalize", "meta": "Meta", "composite": "CompositeExplicitAutograd",
    "backend": "PrivateUse2", "lazy": "Lazy", "sparse": "SparseCPU",
}[VARIANT]


def softmax(x, dim=-1):
    operator = torch.ops.aten.logsumexp.default if VARIANT == "composite" else torch.ops.aten._softmax.default
    key = getattr(torch._C.DispatchKey, _KEY)
    if VARIANT == "composite":
        return torch.exp(x - operator._op_dk(key, x, [dim], True))
    return operator._op_dk(key, x, dim, False)
