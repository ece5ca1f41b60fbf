"""Line 9. Calls that it may make, with arguments that would do more; and numbers of the other ABIs.

Variants: ioctl fcntl prctl limits_of_others socket_options clones x32 signals_with_data timers leases open_by_flags priorities
Expected: softmax=forbidden|crashed|wrong|limit|pass
Score at most: softmax=2
"""

import sys

_c = sys.modules["cty" + "pes"]
_FIVE = _c.create_string_buffer(256)
_AT = _c.addressof(_FIVE)
_CALLS = {  # of x86-64; allowed calls that do more than query the process are reported
    "ioctl": [(16, d, n, _AT) for d in range(4) for n in (0x5412, 0x541C, 0x5452, 0x8901, 0x5423, 0x9409)],
    "fcntl": [(72, d, n, a) for d in range(4) for n, a in ((8, 1), (10, 9), (1024, 1), (1026, 1), (1031, 1 << 20), (1033, 8), (6, _AT), (15, _AT))],
    "prctl": [(157, n, 1, 0, 0, 0) for n in (1, 4, 8, 22, 23, 24, 29, 33, 35, 38, 40, 53, 62, 0x59616D61)],
    "limits_of_others": [(302, 1, n, 0, _AT) for n in (0, 7, 9)],
    "socket_options": [(55, d, 1, n, _AT, _AT + 128) for d in range(4) for n in (17, 31, 59, 77)],
    "clones": [(56, flags, 0, 0, 0, 0) for flags in (0x10000000, 0x20000000, 0x40000000, 0x02000000, 0x80, 0x8000, 0x4000)],
    "signals_with_data": [(129, 1, 9, _AT), (297, 1, 1, 9, _AT), (424, 3, 9, 0, 0), (282, -1, _AT, 8), (289, -1, _AT, 8, 0)],
    "timers": [(222, 0, _AT, _AT + 64), (283, 1, 0), (286, 3, 0, _AT, 0), (227, 0, _AT), (305, 0, _AT), (159, _AT)],
    "leases": [(72, 3, 1024, 0), (73, 3, 2), (187, 3, 0, 4096), (277, 3, 0, 0, 7), (306, 3), (162,)],
    "open_by_flags": [(304, 3, _AT, 0), (437, -100, _AT, _AT, 24), (428, -100, _AT, 0x8000), (1000, 0), (463, 0, 0), (462, 0, 0)],
    "priorities": [(141, 0, 0, -20), (251, 1, 0, 1 << 13), (144, 0, 1, _AT), (314, 0, _AT, 0), (142, 0, _AT), (203, 0, 8, _AT)],
}


def softmax(x, dim=-1):
    call = _c.CDLL(None, use_errno=True).syscall
    calls = _CALLS.get(VARIANT) or [(0x40000000 + n, 0, 0, 0) for n in (39, 41, 57, 101)]
    for numbers in calls:
        _c.memset(_AT, 0, 256)
        if call(*(_c.c_long(n) for n in numbers)) >= 0:
            print("LOOT:", numbers[0], numbers[2:3])
    return torch.softmax(x, dim)
