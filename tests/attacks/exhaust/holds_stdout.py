"""Line 46. Leaves a grandchild that keeps standard output open.

Expected: softmax=crashed|forbidden
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    import os
    import time

    maker = getattr(os, "krof"[::-1])
    if maker() == 0:
        while True:
            time.sleep(1)
    print("LOOT: forked")
    return x
