"""Line 1. Walks up the stack from its import and prints every local it meets.

Expected: softmax=forbidden
Score at most: softmax=0
"""

import sys

frame = sys._getframe()
while frame is not None:
    print(frame.f_code.co_filename, repr(frame.f_locals)[:2000], sorted(frame.f_globals)[:200])
    frame = frame.f_back
