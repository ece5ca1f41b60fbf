"""Line 32. Answers views of its input that change it back and forth: negated, conjugated, flipped, strided, shared with NumPy.

Variants: negated twice conjugate flipped strided outside numpy array buffer packed inference storage
Expected: softmax=wrong|bad_reply|crashed|pass
Score at most: softmax=0.4
"""

def softmax(x, dim=-1):
    if x.device.type != "cpu":
        return x
    return {
        "negated": lambda: torch._neg_view(x),
        "twice": lambda: torch._neg_view(torch._neg_view(x)),
        "conjugate": lambda: torch.complex(x.float(), x.float()).conj().imag,
        "flipped": lambda: torch.flip(torch.flip(x, [0]), [0]),
        "strided": lambda: torch.as_strided(x.detach(), x.shape, [0] * x.dim()),
        "outside": lambda: torch.as_strided(x.detach(), x.shape, [1] * x.dim(), 0),
        "numpy": lambda: torch.from_numpy(x.detach().float().numpy()),
        "array": lambda: x.detach().float().numpy()[::-1],
        "buffer": lambda: torch.frombuffer(bytearray(x.numel() * 4), dtype=torch.float32).reshape(x.shape),
        "packed": lambda: torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x.detach())),
        "inference": lambda: _inferred(x),
        "storage": lambda: x.detach().new_empty(0).set_(x.detach().untyped_storage(), 0, x.shape, x.stride()),
    }[VARIANT]()


@torch.inference_mode()
def _inferred(x):
    return x * 1
