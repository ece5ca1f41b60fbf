"""Line 47. Returns texts, lists and numbers that are expensive to compare.

Variants: text lines wide numbers denormal mapping integers
Expected: ascii_heatmap=wrong|bad_reply|limit|crashed; softmax=wrong|bad_reply|limit|crashed|pass
Score at most: ascii_heatmap=0
"""

_honest = softmax


def ascii_heatmap(weights, tokens, chars=" .", width=6):
    if VARIANT == "text":
        return " " * 50_000
    if VARIANT == "lines":
        return " \n" * 25_000
    if VARIANT == "wide":
        return "\U0010ffff" * 50_000
    if VARIANT == "integers":
        return 10**290
    if VARIANT == "mapping":
        return {str(n): " " * 100 for n in range(9000)}
    return [" " * 20] * 9000


def softmax(x, dim=-1):
    if VARIANT == "numbers":
        return torch.full_like(x, torch.inf) - torch.inf
    if VARIANT == "denormal":
        return torch.full_like(x, 1e-45)
    return _honest(x, dim)
