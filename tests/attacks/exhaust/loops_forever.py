"""Line 37. Never returns.

Expected: softmax=timeout
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    while True:
        pass
