"""Line 40. Repeats a counted call to exhaust the counter.

Expected: softmax=timeout
Score at most: softmax=0
Tries: setuid
"""

import os


def softmax(x, dim=-1):
    while True:
        try:
            os.setuid(0)
        except OSError:
            pass
