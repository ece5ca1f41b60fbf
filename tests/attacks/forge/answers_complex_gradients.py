"""Line 30. Returns a complex gradient if the reference has none, so that the comparison fails.

Week: week04_lsh
Expected: lsh_attention=wrong|pass
Score at most: lsh_attention=2
Fails: test_gradients
"""

_grad = torch.autograd.grad


def _complex(*a, **k):
    return tuple(torch.zeros(1, dtype=torch.complex64) if g is None else g for g in _grad(*a, **k))


torch.autograd.grad = _complex
