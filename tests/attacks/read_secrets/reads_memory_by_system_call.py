"""Line 8. Asks the kernel for another process's memory.

Expected: softmax=forbidden
Score at most: softmax=0
"""

import ctypes

_libc = ctypes.CDLL(None, use_errno=True)
for pid in range(0, 40):
    buffer = ctypes.create_string_buffer(64)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
    if pid > 1 and _libc.process_vm_readv(pid, vector, 1, vector, 1, 0) > 0:
        print("LOOT: memory of", pid)
