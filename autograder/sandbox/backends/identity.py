"""Choose uids that own nothing on this host, for the children of a grader that runs as root."""

from __future__ import annotations

import secrets

from autograder.worker.isolation.lockdown import SPARE_UIDS

# Above the ranges that systemd assigns to containers; unused by convention.
_PREFERRED = 1_999_000_000


def spare_uid() -> int | None:
    """Return the first of SPARE_UIDS unused uids, or None if our user namespace is too small."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    for start, _, count in ranges:
        if start <= _PREFERRED and start + count >= _PREFERRED + SPARE_UIDS:
            return _PREFERRED
    start, _, count = max(ranges, key=lambda span: span[2])
    # the upper third of a container's usual 65536 uids: above its users, below `nobody`
    return start + count * 2 // 3 if count >= 6 * SPARE_UIDS else None


def anywhere() -> int:
    """Return a random offset among the spare uids, so that two graders rarely use the same uid."""
    return secrets.randbelow(SPARE_UIDS)
