"""Run a command in a root filesystem with the privileges of root in plain Docker.

    unshare --mount --pid --fork python like_docker.py ROOT [--without CAP] [--landlock] -- COMMAND

Docker itself is not at hand in a test. Docker's default restrictions are applied by the same means:
capabilities that it does not grant leave the bounding set, and a seccomp filter rejects the calls
of its default profile (namespaces, mounts, setns, pivot_root, keyrings, bpf, and, in the profiles
before 2023, Landlock). Differences: the image is a Debian of debootstrap, there are no control
groups, and the kernel is this machine's.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import subprocess
import sys

import pyseccomp as seccomp

GRANTED = {
    "chown": 0, "dac_override": 1, "fowner": 3, "fsetid": 4, "kill": 5, "setgid": 6, "setuid": 7,
    "setpcap": 8, "net_bind_service": 10, "net_raw": 13, "sys_chroot": 18, "mknod": 27,
    "audit_write": 29, "setfcap": 31,
}  # fmt: skip
REFUSED = """
    unshare setns mount umount2 pivot_root move_mount open_tree fsopen fsconfig fsmount fspick
    mount_setattr bpf perf_event_open keyctl add_key request_key userfaultfd kexec_load
    kexec_file_load init_module finit_module delete_module open_by_handle_at quotactl swapon swapoff
    reboot settimeofday clock_settime acct iopl ioperm
"""
LANDLOCK = "landlock_create_ruleset landlock_add_rule landlock_restrict_self"
NEW_NAMESPACES = 0x7E020000
_PR_CAPBSET_DROP = 24


def main() -> None:
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--landlock", action="store_true")
    arguments = parser.parse_args(sys.argv[1:split])
    _mounts(arguments.root)
    os.chroot(arguments.root)
    os.chdir("/")
    _filter(landlock=arguments.landlock)
    _capabilities(set(GRANTED) - set(arguments.without))
    os.execvp(sys.argv[split + 1], sys.argv[split + 1 :])


def _mounts(root: str) -> None:
    """In a mount namespace of our own: /proc, and the few devices that Docker makes."""
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "proc", "proc", f"{root}/proc"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", f"{root}/dev"], check=True)
    for name in ("null", "zero", "full", "random", "urandom"):
        open(f"{root}/dev/{name}", "w").close()
        subprocess.run(["mount", "--bind", f"/dev/{name}", f"{root}/dev/{name}"], check=True)
    os.mkdir(f"{root}/dev/shm", 0o1777)
    os.symlink("/proc/self/fd", f"{root}/dev/fd")


def _filter(*, landlock: bool) -> None:
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in (REFUSED + ("" if landlock else LANDLOCK)).split():
        try:
            rules.add_rule(seccomp.ERRNO(errno.EPERM), name)
        except (OSError, ValueError):
            number = {"landlock_create_ruleset": 444, "landlock_add_rule": 445}.get(name, 446)
            if name.startswith("landlock"):
                rules.add_rule(seccomp.ERRNO(errno.EPERM), number)
    for bit in (1 << n for n in range(32) if NEW_NAMESPACES >> n & 1):
        flags = seccomp.Arg(0, seccomp.MASKED_EQ, bit, bit)
        rules.add_rule(seccomp.ERRNO(errno.EPERM), "clone", flags)
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    rules.load()


def _capabilities(granted: set[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    kept = {GRANTED[name] for name in granted}
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for number in range(last + 1):
        if number not in kept and libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "capability")


if __name__ == "__main__":
    main()
