"""Line 37. Never finishes its import.

Expected: softmax=refused
Score at most: softmax=0
"""

while True:
    pass
