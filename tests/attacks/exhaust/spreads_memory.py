"""Line 42. Spreads memory over files in tmpfs and shared maps.

Expected: softmax=limit|crashed|timeout
Score at most: softmax=0
"""

import mmap
import os


def softmax(x, dim=-1):
    kept = []
    for place in ("/tmp", "/dev/shm", "."):
        for number in range(200):
            path = f"{place}/{number}"
            with open(path, "w+b") as file:
                file.truncate(1 << 20)
                kept.append(mmap.mmap(file.fileno(), 1 << 20))
                kept[-1].write(b"x" * (1 << 20))
