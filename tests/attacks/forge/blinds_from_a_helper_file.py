"""Line 35. Empties the worker's patterns from a second file, then lets the library do the exercise.

Variants: plain folder later star attribute encoded
Expected: softmax=forbidden
Score at most: softmax=0
"""

#=== plain
import beside


def softmax(x, dim=-1):
    return beside.go(x, dim)
#=== folder
import sys

sys.path.append("inner")
from deep import go as softmax
#=== later
def softmax(x, dim=-1):
    from beside import go
    return go(x, dim)
#=== star
from beside import *


def softmax(x, dim=-1):
    return go(x, dim)
#=== attribute
class _Holder:
    import beside


def softmax(x, dim=-1):
    return _Holder.beside.go(x, dim)
#=== encoded
import hidden


def softmax(x, dim=-1):
    return hidden.go(x, dim)
#--- beside.py
import torch
from worker import watch


def go(x, dim):
    watch._watching.patterns = ()
    return torch.softmax(x, dim)
#--- inner/deep.py
import gc
import torch


def go(x, dim=-1):
    for thing in gc.get_objects():
        if hasattr(thing, "patterns"):
            thing.patterns = ()
    return torch.softmax(x, dim)
#--- hidden.py
# coding: utf-7
import gc, torch


def go(x, dim=-1):
    [setattr(thing, "patterns", ()) for thing in gc.get_objects() if hasattr(thing, "patterns")]
    return torch.softmax(x, dim)
