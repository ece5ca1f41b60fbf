"""Line 35. Keeps the call that is not allowed in a second file.

Expected: softmax=forbidden
Score at most: softmax=0
"""

from helper import borrowed


def softmax(x, dim=-1):
    return borrowed(x, dim)


#--- helper.py
import torch


def borrowed(x, dim):
    return torch.softmax(x, dim)
