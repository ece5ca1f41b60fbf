"""Line 24. Returns gradients that cannot be compared, to crash the comparison.

Variants: complex integer empty
Expected: softmax=wrong|bad_reply
Score at most: softmax=2
"""

_grad = torch.autograd.grad
_ODD = {
    "complex": torch.zeros(1, dtype=torch.complex64),
    "integer": torch.zeros(1, dtype=torch.uint16),
    "empty": torch.zeros(0, dtype=torch.bool),
}
torch.autograd.grad = lambda *a, **k: tuple(_ODD[VARIANT] for _ in _grad(*a, **k))
