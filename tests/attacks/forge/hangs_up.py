"""Line 17. Closes the socket and lives on.

Expected: softmax=crashed|timeout
Score at most: softmax=0
"""

import os
import time


def softmax(x, dim=-1):
    os.close(3)
    while True:
        time.sleep(1)
