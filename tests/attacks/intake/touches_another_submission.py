"""Line 54. Writes to every shared location, and reads files that others may have left there.

Expected: softmax=pass
Score at most: softmax=2
"""

import os

for place in ("/tmp", "/dev/shm", "/submission", "/submission/..", "/scratch", "/var/tmp", "/cache", "/run"):
    try:
        print(place, os.listdir(place))
        for name in os.listdir(place):
            path = os.path.join(place, name)
            if os.path.isfile(path) and "CANARY" in open(path, errors="replace").read():
                print("LOOT: a neighbour's file", path)
    except OSError:
        pass
    for name in ("attack-was-here", "softmax.py", "CANARY-left-behind"):
        try:
            with open(os.path.join(place, name), "w" if place != "/submission" else "x") as file:
                file.write("left behind by another submission: CANARY-left-behind")
        except OSError:
            pass
