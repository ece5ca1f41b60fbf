"""Line 35. Runs unreadable code: compiled, under a different file name, from a cache or a pickle.

Variants: cached renamed lines pickled
Expected: softmax=forbidden|crashed|wrong|refused
Score at most: softmax=0
"""

import sys


def _plain(x, dim):
    return vars(torch)["soft" + "max"](x, dim)


#=== cached
import os
import pickle

_dumps = pickle.loads(b"cmarshal\ndumps\n.")


def softmax(x, dim=-1):
    return _late(x, dim)


def _write():
    place = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(place + "/__pycache__", exist_ok=True)
    made = (lambda: 0).__code__.replace(co_consts=(None,), co_names=(), co_code=(lambda: None).__code__.co_code)
    tag = sys.implementation.cache_tag
    stamp = os.stat(place + "/extra.py")
    head = b"\xa7\r\r\n" + bytes(4) + int(stamp.st_mtime).to_bytes(4, "little") + stamp.st_size.to_bytes(4, "little")
    with open(f"{place}/__pycache__/extra.{tag}.pyc", "wb") as file:
        file.write(head + _dumps(made))


_write()
import extra

_late = getattr(extra, "act", _plain)
#=== renamed
_plain.__code__ = _plain.__code__.replace(co_filename="/packages/torch/nn/functional.py", co_name="relu")
softmax = lambda x, dim=-1: _plain(x, dim)
#=== lines
_plain.__code__ = _plain.__code__.replace(co_linetable=b"", co_firstlineno=1)


def softmax(x, dim=-1):
    return _plain(x, dim)
#=== pickled
import pickle


_loaded = pickle.loads(b"cbuiltins\ngetattr\n(cbuiltins\n__import__\n(Vtorch\ntRVsoftmax\ntR.")


def softmax(x, dim=-1):
    return _loaded(x, dim)
#--- extra.py
def act(x, dim):
    return x
