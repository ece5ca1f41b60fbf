"""Line 30. Answers right values in types that compare in odd ways.

Variants: double complex meta sparse integer bool quantized numpy list nested conjugate
Expected: softmax=wrong|bad_reply|crashed|pass
Score at most: softmax=2
"""

_honest = softmax


def softmax(x, dim=-1):
    y = _honest(x, dim)
    return {
        "double": lambda: y.double() if x.dtype != torch.float64 else y.float(),
        "complex": lambda: y.to(torch.complex64),
        "meta": lambda: y.to("meta"),
        "sparse": lambda: y.to_sparse(),
        "integer": lambda: y.long(),
        "bool": lambda: y.bool(),
        "quantized": lambda: torch.quantize_per_tensor(y.float(), 0.1, 0, torch.quint8),
        "numpy": lambda: y.detach().numpy(),
        "list": lambda: y.tolist(),
        "nested": lambda: torch.nested.nested_tensor([y, y]),
        "conjugate": lambda: y.to(torch.complex64).conj().real,
    }[VARIANT]()
