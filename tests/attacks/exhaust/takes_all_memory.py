"""Line 41. Takes memory until there is none.

Variants: bytes tensors strings maps recursion swallow one
Expected: softmax=limit|timeout|crashed|bad_reply
Score at most: softmax=0
"""

import mmap


def softmax(x, dim=-1):
    kept = []
    while True:
        if VARIANT == "bytes":
            kept.append(bytearray(50 << 20))
        elif VARIANT == "tensors":
            kept.append(torch.ones(10 << 20))
        elif VARIANT == "strings":
            kept.append("x" * (len(kept) + 1) * (1 << 20))
        elif VARIANT == "maps":
            kept.append(mmap.mmap(-1, 50 << 20))
            kept[-1].write(b"x" * (50 << 20))
        elif VARIANT == "recursion":
            kept = [kept, kept[:], list(kept) * 2 or [0]]
        elif VARIANT == "swallow":
            try:
                kept.append(bytearray(10 << 20))
            except MemoryError:
                pass
        else:
            return torch.zeros(1 << 40)
