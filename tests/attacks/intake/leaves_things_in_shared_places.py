"""Line 54. Leaves files, links and locks in places that a next submission might share.

Variants: shm tmp home library links mapped
Expected: softmax=pass|crashed
Score at most: softmax=2
"""

import os
import sys

_honest = softmax
_PLACES = {
    "shm": ["/dev/shm/attack-left", "/dev/shm/sem.attack-left"],
    "tmp": ["/tmp/attack-left", "/var/tmp/attack-left", "/run/attack-left"],
    "home": [os.path.expanduser("~/.attack-left"), "/root/attack-left", "/attack-left"],
    "library": [os.path.dirname(p) + "/attack-left" for p in (torch.__file__, os.__file__)],
    "links": ["attack-link"],
    "mapped": ["/tmp/attack-mapped"],
}


def softmax(x, dim=-1):
    for place in _PLACES[VARIANT]:
        try:
            if VARIANT == "links":
                os.symlink("/etc", place)
                os.link(torch.__file__, "attack-hard")
            if os.path.exists(place) and "CANARY-left-behind" not in place:
                print("LOOT:", place) if VARIANT != "links" and x.numel() == 0 else None
            with open(place, "a") as file:
                file.write("CANARY-left-behind")
        except OSError:
            pass
    return _honest(x, dim)
