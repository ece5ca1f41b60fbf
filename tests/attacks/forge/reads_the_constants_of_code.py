"""Line 35. Takes the original function out of the constants of the code that took its place.

Expected: softmax=forbidden|crashed
Score at most: softmax=0
"""

def _original(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    held = [c for c in function.__code__.co_consts if hasattr(c, "call")]
    return held[0].call


def softmax(x, dim=-1):
    return torch.exp(x - _original(torch._refs.logsumexp)(x, [dim], True))
