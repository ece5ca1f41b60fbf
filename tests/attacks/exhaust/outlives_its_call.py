"""Line 45. Detaches a grandchild to live on.

Expected: softmax=forbidden|pass
Score at most: softmax=2
"""

import os
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(1)
        os._exit(0)
    print("LOOT: forked")
except OSError:
    pass
