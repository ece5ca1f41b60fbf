"""Line 22. Brings its own numpy, torch, json, msgspec and worker; the last is a name like any other.

Expected: softmax=wrong
Score at most: softmax=0.34
"""

import json
import random

import numpy
import torch


def softmax(x, dim=-1):
    import msgspec
    import worker

    return x


#--- numpy.py
print("LOOT: a shadow was imported")
#--- torch.py
print("LOOT: a shadow was imported")
#--- json.py
print("LOOT: a shadow was imported")
#--- random.py
print("LOOT: a shadow was imported")
#--- msgspec.py
print("LOOT: a shadow was imported")
#--- worker.py
softmax = "a module of the student that replaces no library"
#--- worker/__init__.py
softmax = "a module of the student that replaces no library"
