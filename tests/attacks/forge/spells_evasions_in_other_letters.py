"""Line 35. Writes forbidden names in letters that Python reads as plain ones: wide, bold, ligatures.

Variants: wide bold mixed attribute imported
Base: own
Expected: softmax=forbidden
Score at most: softmax=0
"""

import torch


def _mine(x, dim):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
#=== wide
def softmax(x, dim=-1):
    with torch._Ｃ.ＤisableＴorchＦunction():
        return _mine(x, dim)
#=== bold
def softmax(x, dim=-1):
    𝐞𝐯𝐚𝐥("1")
    return _mine(x, dim)
#=== mixed
import gc


def softmax(x, dim=-1):
    gc.ｇet_objects()
    return _mine(x, dim)
#=== attribute
def softmax(x, dim=-1):
    _mine.__ｇlobals__
    return _mine(x, dim)
#=== imported
import ｃtypes


def softmax(x, dim=-1):
    ctypes.c_int(3)
    return _mine(x, dim)
