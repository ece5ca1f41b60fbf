"""Line 22. Hands in a decoy and puts a library's folder before it, so that a second copy of a library's file is imported.

Expected: softmax=forbidden|crashed|refused
Score at most: softmax=0
"""

import sys


def softmax(x, dim=-1):
    return transforms.SoftmaxTransform()(x.movedim(dim, -1)).movedim(-1, dim)


sys.path.insert(0, torch.__path__[0] + "/distributions")
import transforms


#--- transforms.py
softmax = "found only if no library is searched first"
