"""Line 6. Prints its environment.

Expected: softmax=pass
Score at most: softmax=2
"""

import os

print(dict(os.environ), os.getlogin if False else "", os.uname(), os.getuid())
