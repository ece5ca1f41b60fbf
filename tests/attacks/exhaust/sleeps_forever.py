"""Line 37. Sleeps.

Expected: softmax=timeout
Score at most: softmax=0
"""

import time


def softmax(x, dim=-1):
    time.sleep(10**6)
