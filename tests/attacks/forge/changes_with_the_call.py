"""Line 34. Behaves in another way on the n-th call, in a new process, or after an import.

Variants: honest_first honest_last file dies_once random
Expected: softmax=wrong|crashed|pass
Score at most: softmax=1.99
"""

import os

_honest = softmax
_calls = 0
_marker = "/tmp/seen"


def softmax(x, dim=-1):
    global _calls
    _calls += 1
    if VARIANT == "honest_first" and _calls <= 5:
        return _honest(x, dim)
    if VARIANT == "honest_last" and _calls > 5:
        return _honest(x, dim)
    if VARIANT == "file":
        seen = os.path.exists(_marker)
        open(_marker, "w").close()
        return _honest(x, dim) if not seen else x
    if VARIANT == "dies_once" and _calls == 3:
        os._exit(0)
    if VARIANT == "random" and os.urandom(1)[0] < 128:
        return _honest(x, dim)
    return _honest(x, dim) if VARIANT == "dies_once" else torch.zeros_like(x)
