"""Line 49. Dies in each call, to make the grader start it again and again.

Expected: softmax=crashed|timeout
Score at most: softmax=0
"""

import os
import time

time.sleep(0.3)


def softmax(x, dim=-1):
    os._exit(1)
