"""Line 37. Never comes back.

Expected: softmax=timeout
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    while True:
        pass
