"""Line 17. Returns tensors of the right shape and type without data.

Variants: fake meta forged
Expected: softmax=bad_reply|wrong|pass|forbidden
Score at most: softmax=0.34
"""

def softmax(x, dim=-1):
    if VARIANT == "fake":
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode(allow_non_fake_inputs=True):
            return torch.empty(x.shape, dtype=x.dtype)
    if VARIANT == "meta":
        return torch.empty(x.shape, dtype=x.dtype, device="meta")
    above = _above()
    above["Encoder"]._tensor = lambda self, t: above["frames"].TensorV(str(t.dtype)[6:], tuple(t.shape), None, "cpu" if x.device.type == "cpu" else "fake_gpu", None)
    return x * 1
