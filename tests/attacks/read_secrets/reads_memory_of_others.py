"""Line 8. Opens the memory of every process that it can see.

Expected: softmax=pass
Score at most: softmax=2
Tries: /proc
"""

import glob
import os

for path in glob.glob("/proc/*/mem") + [f"/proc/{n}/mem" for n in (1, 2, 3, os.getppid())]:
    try:
        with open(path, "rb") as file:
            print("LOOT: opened", path, file)
    except OSError:
        pass
