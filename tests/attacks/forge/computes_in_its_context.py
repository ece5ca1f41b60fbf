"""Line 35. Context variables, generators and coroutines run the call in frames other than the watched one.

Variants: context generator coroutine sorted regular_expression database reduced parser formatted
Expected: softmax=forbidden|crashed
Score at most: softmax=0
"""

#=== context
import contextvars

_context = contextvars.copy_context()


def softmax(x, dim=-1):
    return _context.run(torch.softmax, x, dim)
#=== generator
def _generator():
    value = None
    while True:
        x, dim = yield value
        value = torch.softmax(x, dim)


_running = _generator()
next(_running)


def softmax(x, dim=-1):
    return _running.send((x, dim))
#=== coroutine
import asyncio


async def _later(x, dim):
    return torch.softmax(x, dim)


def softmax(x, dim=-1):
    waiting = _later(x, dim)
    try:
        waiting.send(None)
    except StopIteration as stop:
        return stop.value
#=== sorted
def softmax(x, dim=-1):
    made = []
    sorted([0], key=lambda _: made.append(torch.softmax(x, dim)) or 0)
    return made[0]
#=== regular_expression
import re


def softmax(x, dim=-1):
    made = []
    re.sub("a", lambda m: made.append(torch.softmax(x, dim)) or "", "a")
    return made[0]
#=== database
import sqlite3


def softmax(x, dim=-1):
    made = []
    base = sqlite3.connect(":memory:")
    base.create_function("go", 0, lambda: made.append(torch.softmax(x, dim)) or 1)
    base.execute("select go()").fetchall()
    return made[0]
#=== reduced
import copyreg
import copy


class _Copied:
    def __init__(self, x, dim):
        self.parts = x, dim

    def __deepcopy__(self, memo):
        return torch.softmax(*self.parts)


def softmax(x, dim=-1):
    return copy.deepcopy(_Copied(x, dim))
#=== parser
import json


def softmax(x, dim=-1):
    return json.loads("{}", object_hook=lambda _: torch.softmax(x, dim))
#=== formatted
class _Shown:
    def __format__(self, spec):
        self.y = torch.softmax(*self.parts)
        return ""


def softmax(x, dim=-1):
    shown = _Shown()
    shown.parts = x, dim
    f"{shown}"
    return shown.y
