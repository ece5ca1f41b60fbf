"""A uid that owns nothing on this host, for children of a grader that runs as root."""

from __future__ import annotations

import secrets

from autograder.worker.isolation.lockdown import SPARE_UIDS

# Between the ranges that systemd hands to containers and the last uid: used by nobody.
_PREFERRED = 1_999_000_000


def spare_uid() -> int | None:
    """The first of SPARE_UIDS unused uids; None if our user namespace has none to spare."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    for start, _, count in ranges:
        if start <= _PREFERRED and start + count >= _PREFERRED + SPARE_UIDS:
            return _PREFERRED
    start, _, count = max(ranges, key=lambda span: span[2])
    # the upper third of a container's usual 65536: above its users, below "nobody"
    return start + count * 2 // 3 if count >= 6 * SPARE_UIDS else None


def anywhere() -> int:
    """A number to begin with among the spare uids, so that two graders seldom give out the same."""
    return secrets.randbelow(SPARE_UIDS)
