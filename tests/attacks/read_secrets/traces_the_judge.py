"""Line 9. Attaches to other processes with ptrace.

Expected: softmax=forbidden
Score at most: softmax=0
"""

import ctypes

_libc = ctypes.CDLL(None, use_errno=True)
for pid in range(1, 60):
    if _libc.ptrace(16, pid, 0, 0) == 0 or _libc.ptrace(0x4206, pid, 0, 0) == 0:
        print("LOOT: attached to", pid)
