"""Line 18. The same while it is imported.

Variants: os_exit sys_exit
Expected: softmax=refused
Score at most: softmax=0
"""

import os
import sys

os._exit(0) if VARIANT == "os_exit" else sys.exit(0)
