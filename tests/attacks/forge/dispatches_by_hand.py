"""Line 35. Calls the kernel by its dispatch key, bypassing autograd or a replacement.

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
