"""Line 35. Declares an encoding in which the rules would read another source than Python.

Base: nothing
Expected: refused
Score at most: softmax=0
"""

# -*- coding: utf-7 -*-
import torch


def softmax(x, dim=-1):
    return torch.+AHMAbwBmAHQAbQBhAHg-(x, dim)
