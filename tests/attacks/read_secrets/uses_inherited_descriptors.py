"""Line 7. Reads from and stats every descriptor it might have inherited.

Expected: softmax=pass
Score at most: softmax=2
"""

import os

for descriptor in range(4, 1024):
    try:
        print("LOOT: descriptor", descriptor, os.fstat(descriptor))
    except OSError:
        pass
for descriptor in (0, 1, 2):
    print(descriptor, os.fstat(descriptor).st_rdev == os.stat("/dev/null").st_rdev or "LOOT: not null")
