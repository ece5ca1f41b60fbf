"""Line 9. Makes every system call that could escape, by number, and reports those that were allowed.

Variants: tracing memory files names devices
Expected: softmax=forbidden|crashed|wrong|limit
Score at most: softmax=0
"""

import sys

_c = sys.modules["cty" + "pes"]
_CALLS = {  # of x86-64, with arguments that would succeed
    "tracing": {"ptrace": (101, 0, 0), "perf_event_open": (298, 0, 0, -1, -1, 0), "kcmp": (312, 1, 1, 0, 0, 0),
                "process_vm_readv": (310, 1, 0, 0, 0, 0), "pidfd_open": (434, 1, 0), "pidfd_getfd": (438, 0, 0, 0),
                "prctl_dumpable": (157, 4, 1), "prctl_tracer": (157, 0x59616D61, -1), "seccomp": (317, 1, 0, 0)},
    "memory": {"memfd_create": (319, 0, 0), "memfd_secret": (447, 0), "userfaultfd": (323, 1), "shmget": (29, 0, 4096, 0o1600),
               "mlockall": (151, 1), "personality": (135, 0x0040000), "modify_ldt": (154, 0, 0, 0), "process_madvise": (440, 0),
               "remap_file_pages": (216, 0, 0, 0, 0, 0), "move_pages": (279, 0, 0, 0, 0, 0, 0), "pkey_alloc": (330, 0, 0)},
    "files": {"mount": (165, 0, 0, 0, 0, 0), "fsopen": (430, 0, 0), "open_tree": (428, -100, 0, 1), "openat2": (437, -100, 0, 0, 24),
              "name_to_handle_at": (303, 3, 0, 0, 0, 0x1000), "chroot": (161, 0), "pivot_root": (155, 0, 0), "fanotify_init": (300, 0, 0),
              "inotify_init": (253,), "quotactl": (179, 0, 0, 0, 0), "statmount": (457, 0, 0, 0, 0), "listmount": (458, 0, 0, 0, 0)},
    "names": {"socket_netlink": (41, 16, 3, 0), "socket_vsock": (41, 40, 1, 0), "socketpair": (53, 1, 1, 0, 0), "mq_open": (240, 0, 66, 0o600, 0),
              "semget": (64, 0, 1, 0o1600), "msgget": (68, 0, 0o1600), "unshare": (272, 0x10000000), "setns": (308, 3, 0),
              "clone3": (435, 0, 0), "fork": (57,), "execveat": (322, -1, 0, 0, 0, 0), "setsid": (112,), "keyctl": (250, 0, -3, 0)},
    "devices": {"bpf": (321, 0, 0, 0), "io_uring_setup": (425, 1, 0), "kexec_load": (246, 0, 0, 0, 0), "init_module": (175, 0, 0, 0),
                "syslog": (103, 10, 0, 0), "iopl": (172, 0), "ioperm": (173, 0, 1, 1), "reboot": (169, 0, 0, 0), "swapon": (167, 0, 0),
                "acct": (163, 0), "sched_setaffinity": (203, 0, 8, 0), "ioprio_set": (251, 1, 0, 0), "setpriority": (141, 0, 0, 5),
                "landlock_create_ruleset": (444, 0, 0, 1), "lookup_dcookie": (212, 0, 0, 0), "uselib": (134, 0), "cachestat": (451, 3, 0, 0, 0)},
}


def softmax(x, dim=-1):
    call = _c.CDLL(None, use_errno=True).syscall
    for name, numbers in _CALLS[VARIANT].items():
        if call(*(_c.c_long(n) for n in numbers)) >= 0:
            print("LOOT:", name)
    return torch.softmax(x, dim)
