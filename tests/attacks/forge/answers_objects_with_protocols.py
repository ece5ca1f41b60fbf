"""Line 26. Answers objects that offer themselves by every protocol: arrays, capsules, buffers, pickles.

Variants: array_interface dlpack buffer reduce getattr_all sequence number path
Expected: softmax=bad_reply|wrong|crashed
Score at most: softmax=0
"""

class _Offer:
    def __init__(self, x, dim):
        e = np.exp(x.detach().cpu().double().numpy())
        self.value = e / e.sum(dim, keepdims=True)

    def __reduce__(self):
        return (print, ("LOOT:",))


def softmax(x, dim=-1):
    offer = _Offer(x, dim)
    kind = type(offer)
    if VARIANT == "array_interface":
        kind.__array_interface__ = property(lambda s: s.value.__array_interface__)
        kind.__array__ = lambda s, *a, **k: s.value
    if VARIANT == "dlpack":
        kind.__dlpack__ = lambda s, **k: s.value.__dlpack__()
        kind.__dlpack_device__ = lambda s: (1, 0)
    if VARIANT == "buffer":
        return memoryview(offer.value)
    if VARIANT == "getattr_all":
        kind.__getattr__ = lambda s, name: getattr(s.value, name)
        kind.__class__ = property(lambda s: torch.Tensor)
    if VARIANT == "sequence":
        kind.__len__ = lambda s: 10**9
        kind.__getitem__ = lambda s, i: s
        kind.__class__ = property(lambda s: list)
    if VARIANT == "number":
        kind.__float__ = kind.__index__ = lambda s: 1
        kind.__class__ = property(lambda s: float)
    if VARIANT == "path":
        kind.__fspath__ = lambda s: "/etc/passwd"
    return offer
