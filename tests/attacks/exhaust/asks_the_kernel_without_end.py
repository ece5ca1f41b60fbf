"""Line 40. Makes a call that is counted, over and over, to wear out whoever counts.

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
