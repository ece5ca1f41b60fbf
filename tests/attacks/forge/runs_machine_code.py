"""Line 23. Runs bytes as machine code, to make system calls that no filter was written for.

Variants: call_32 call_x32 call_64
Expected: softmax=forbidden|crashed|limit|timeout
Score at most: softmax=0
"""

import mmap
import sys

_c = sys.modules["cty" + "pes"]
_CODE = {
    "call_32": b"\xb8\x1a\x00\x00\x00\xcd\x80\xc3",  # mov eax, ptrace of 32 bits; int 0x80
    "call_x32": b"\xb8\x09\x02\x00\x40\x0f\x05\xc3",  # ptrace of x32
    "call_64": b"\xb8\x65\x00\x00\x00\x0f\x05\xc3",  # ptrace
}


def softmax(x, dim=-1):
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(_CODE[VARIANT])
    place = _c.addressof(_c.c_char.from_buffer(memory))
    found = _c.CFUNCTYPE(_c.c_long)(place)()
    if found >= 0:
        print("LOOT:", VARIANT, found)
    return torch.softmax(x, dim)
