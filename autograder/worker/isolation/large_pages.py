"""Move the memory of the fork server to large pages, so that forks cost less.

A fork copies a page-table entry for each page in use. With 200 MiB in pages of 4 KiB, this takes
half of the system time of a short submission; pages of 2 MiB need 500 times fewer entries. When a
child writes, the kernel splits a large page and copies 4 KiB, so the child uses no more memory.
"""

import contextlib
import ctypes

from .lockdown import call

_SIZE = 2 << 20
_MADV_COLLAPSE = 25  # since Linux 6.1; older kernels refuse it, which changes nothing


def use_large_pages() -> None:
    """Move this process's private memory to large pages, as far as the kernel supports it."""
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
