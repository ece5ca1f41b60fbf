"""Line 13. Makes an io_uring, which would open sockets and files behind the filter.

Expected: softmax=forbidden
Score at most: softmax=0
"""

import ctypes

_libc = ctypes.CDLL(None, use_errno=True)
for number in (425, 426, 427, 321, 323, 298, 250, 272, 308, 435):
    if _libc.syscall(number, 8, ctypes.create_string_buffer(256), 0, 0, 0, 0) >= 0:
        print("LOOT: system call", number)
