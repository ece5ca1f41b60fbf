"""Line 9. Signals every process it can name.

Expected: softmax=pass|crashed
Score at most: softmax=2
Tries: kill
"""

import os
import signal

for pid in [0, -1, os.getppid(), *range(2, 200)]:
    for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        try:
            if pid not in (0,):
                os.kill(pid, number)
                if pid > 1:
                    print("LOOT: signalled", pid)
        except OSError:
            pass
