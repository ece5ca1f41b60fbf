"""Line 29. Answers shapes that a careless comparison would broadcast.

Variants: scalar one empty row number empty_list nothing
Expected: softmax=wrong|crashed|pass
Score at most: softmax=0.12
"""

def softmax(x, dim=-1):
    return {
        "scalar": torch.ones((), dtype=x.dtype),
        "one": torch.ones(1, dtype=x.dtype),
        "empty": torch.ones(0, dtype=x.dtype),
        "row": torch.ones(1, x.shape[-1], dtype=x.dtype),
        "number": 0.5,
        "empty_list": [],
        "nothing": (),
    }[VARIANT]
