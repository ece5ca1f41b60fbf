"""Line 42. Takes memory in ways that a count of its pages could miss: pipes, page tables, queues, shared maps.

Variants: pipes epolls events shared sparse stack no_reserve locked grows_down freed cycling long_paths
Expected: softmax=limit|crashed|timeout|wrong|forbidden|pass
Score at most: softmax=0.4
"""

import mmap
import os
import select


def _taken(kept):
    if VARIANT == "pipes":
        while True:
            r, w = os.pipe()
            os.set_blocking(w, False)
            kept.append((r, w))
            while os.write(w, b"x" * 4096):
                pass
    if VARIANT == "epolls":
        while True:
            one = select.epoll()
            for other in kept:
                one.register(other.fileno(), 1)
            kept.append(one)
    if VARIANT == "events":
        while True:
            kept.append(os.eventfd(1))
    flags = mmap.MAP_ANONYMOUS | {
        "shared": mmap.MAP_SHARED, "no_reserve": mmap.MAP_PRIVATE | 0x4000, "locked": mmap.MAP_PRIVATE | 0x2000,
        "grows_down": mmap.MAP_PRIVATE | 0x100,
    }.get(VARIANT, mmap.MAP_PRIVATE)
    if VARIANT == "sparse":
        while True:
            one = mmap.mmap(-1, 1 << 30, flags=flags | 0x4000)
            kept.append(one)
            for place in range(0, 1 << 30, 1 << 21):
                one[place] = 1
    if VARIANT == "freed":
        while True:
            one = mmap.mmap(-1, 1 << 24, flags=flags)
            one.write(b"x" * (1 << 24))
            one.madvise(8)
            kept.append(one)
    if VARIANT == "cycling":
        one = mmap.mmap(-1, 1 << 27, flags=flags)
        while True:
            one[:] = b"x" * (1 << 27)
            one.madvise(4)
    if VARIANT == "stack":
        import threading

        threading.stack_size(64 << 20)

        def deep(n):
            return n and deep(n - 1)

        while True:
            kept.append(threading.Thread(target=deep, args=(900,)))
            kept[-1].start()
    if VARIANT == "long_paths":
        name = "n" * 250
        while True:
            os.mkdir(name)
            os.chdir(name)
    while True:
        one = mmap.mmap(-1, 1 << 22, flags=flags)
        one.write(b"x" * (1 << 22))
        kept.append(one)


def softmax(x, dim=-1):
    kept = []
    try:
        _taken(kept)
    except OSError:
        pass
    return torch.zeros_like(x)
