"""Line 10. Hides the inputs in sentences that feedback may repeat.

Variants: attribute name module keyword missing free_text einsum shape tail device literal
Expected: softmax=crashed
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    flat = x.detach().flatten().tolist()[:4] if x.device.type == "cpu" else [0.0]
    letters = "".join("".join(chr(97 + int(c)) if c.isdigit() else "_" for c in f"{v:.6g}") for v in flat)
    marked = "CANARYINPUT" + letters
    digits = "".join(c for v in flat for c in f"{v:.6g}" if c.isdigit())
    raise {
        "attribute": AttributeError(f"'Tensor' object has no attribute '{marked}'"),
        "name": NameError(f"name '{marked}' is not defined"),
        "module": ImportError(f"No module named '{marked}'"),
        "keyword": TypeError(f"softmax() got an unexpected keyword argument '{marked}'"),
        "missing": TypeError(f"softmax() missing 1 required positional argument: '{marked}'"),
        "free_text": TypeError(f"softmax() got {marked} where it should not"),
        "einsum": RuntimeError(f"einsum(): {marked}"),
        "shape": RuntimeError(f"shape '[{digits}]' is invalid for input of size {digits}"),
        "tail": RuntimeError(f"Expected all tensors to be on the same device, but got cpu and cuda!{marked}"),
        "device": RuntimeError(f"Expected all tensors to be on the same device, but got {marked} and cuda!"),
        "literal": ValueError(marked + "'"),
    }[VARIANT]
