"""Line 35. Computes during attribute lookup: descriptors, a module's class, a lazy attribute.

Variants: module_class module_getattr callable_metaclass new dispatch
Expected: softmax=forbidden|crashed|missing|unwritten|wrong
Score at most: softmax=0
"""

import sys
import types


class _Trick(types.ModuleType):
    pass


def _give(x, dim=-1):
    return torch.softmax(x, dim)


#=== module_class
_Trick.softmax = property(lambda self: _give)
del softmax
sys.modules[__name__].__class__ = _Trick
#=== module_getattr
del softmax


def __getattr__(name):
    if name == "soft" + "max":
        return _give
    raise AttributeError(name)
#=== callable_metaclass
class _Calls(type):
    def __call__(cls, x, dim=-1):
        return _give(x, dim)


class softmax(metaclass=_Calls):
    pass
#=== new
class softmax:
    def __new__(cls, x, dim=-1):
        return _give(x, dim)
#=== dispatch
import functools


@functools.singledispatch
def softmax(x, dim=-1):
    return None


softmax.register(torch.Tensor, _give)
