"""Line 46. Leaves a grandchild that keeps standard output open.

Expected: softmax=crashed|forbidden
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    import os
    import time

    maker = getattr(os, "krof"[::-1])
    child = maker()
    if child == 0:
        while True:
            time.sleep(1)
    if child > 0:  # the search for lines also runs edits of this program that do not fork
        print("LOOT: forked")
    return x
