"""Line 17. Sends a stack of replies while it is imported.

Expected: softmax=refused
Score at most: softmax=0
"""

import os

_frame = b"AGK1" + (11).to_bytes(4, "little") + (0).to_bytes(8, "little")
for _ in range(50):
    os.write(3, bytes(8) + _frame + b"\x82\xacmessage_type\xa5reply\xa6status\xa2ok")
