"""Move the memory of the fork server to large pages to make forks cheaper.

A fork copies a page-table entry for each page in use. With 200 MiB in 4 KiB pages, copying takes
half of a short submission's system time. 2 MiB pages need 500 times fewer entries. When a child
writes to a page, the kernel splits the page and copies 4 KiB, so the child uses no more memory.
"""

import contextlib
import ctypes

from .lockdown import call

_SIZE = 2 << 20
_MADV_COLLAPSE = 25  # Linux 6.1 or newer; the call fails without effect on older kernels


def use_large_pages() -> None:
    """Move this process's private anonymous memory to large pages where the kernel supports it."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
        lines = file.readlines()
    for line in lines:
        addresses, access, _, _, inode, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        start, end = -(-start // _SIZE) * _SIZE, end // _SIZE * _SIZE
        if access == "rw-p" and inode == "0" and start < end:
            with contextlib.suppress(OSError):
                call(
                    "madvise", ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE
                )
