"""Line 10. Fails on purpose with the inputs in the exception's text, dressed in many ways.

Variants: plain assertion key chained notes group tensor syntax not_implemented memory disk
Expected: softmax=crashed|limit|unwritten
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    values = [f"{v:.6g}" for v in x.detach().flatten().tolist()[:40]] if x.device.type == "cpu" else []
    text = " ".join(values)
    if VARIANT == "plain":
        raise ValueError(text)
    if VARIANT == "assertion":
        assert x is None, (x, text)
    if VARIANT == "key":
        return {}[text]
    if VARIANT == "chained":
        try:
            raise KeyError(text)
        except KeyError as error:
            raise RuntimeError(text) from error
    if VARIANT == "notes":
        error = ValueError("no")
        error.add_note(text)
        raise error
    if VARIANT == "group":
        raise ExceptionGroup(text, [ValueError(text)])
    if VARIANT == "tensor":
        return torch.tensor(text)
    if VARIANT == "syntax":
        raise SyntaxError(text, ("softmax.py", 3, 1, text))
    if VARIANT == "not_implemented":
        raise NotImplementedError(text)
    if VARIANT == "memory":
        raise MemoryError(text)
    raise OSError(28, "No space left " + text, text)
