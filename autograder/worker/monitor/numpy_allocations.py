"""Counting what NumPy makes: every array's memory is asked for here while a call is counted.

NumPy lets a program bring its own allocator (NEP 49, `PyDataMem_SetHandler`). Below every
function, method and ufunc, by whatever name, an array's data comes from there. So what a submission
does in NumPy is seen like what it does in torch: the largest array, how many numbers were made, and
how many are still kept. Sizes are bytes; a number is counted as four of them, a float32.

The handler is a C structure with four functions in it, reached through the table of NumPy's C API;
`ready` sets it once and says which version of NumPy broke it, if one did. It holds for the context
in which it is set. What an allocator cannot see: work done in an array that was there before
(`out=` an old buffer). What asks for memory elsewhere (lists, bytes) is measured from outside.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy._core import multiarray

_BYTES_OF_A_NUMBER = 4
_SET_HANDLER, _VERSION = 304, 1  # NumPy's C API: NPY_API's place, and of PyDataMem_Handler
_NAME = b"counted"

_Malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_Calloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_Realloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_Free = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Handler(ctypes.Structure):
    """PyDataMem_Handler of NumPy's ndarraytypes.h."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", _Malloc),
        ("calloc", _Calloc),
        ("realloc", _Realloc),
        ("free", _Free),
    )


class ArrayCount:
    """What NumPy made since `begin`; the one that began last is told."""

    def __init__(self) -> None:
        self.made = self.largest = self.arrays = 0  # numbers, numbers, arrays
        self.alive: dict[int, int] = {}
        self._before: Any = None
        self._outer: ArrayCount | None = None

    def __enter__(self) -> ArrayCount:
        global _counting
        self._outer = _counting
        self._before, _counting = _set(_ours()), self
        return self

    def __exit__(self, *_: object) -> None:
        global _counting
        _counting = self._outer
        _set(self._before)

    def note(self, place: int, size: int) -> None:
        numbers = size // _BYTES_OF_A_NUMBER
        self.alive[place] = numbers
        self.arrays += 1
        self.made += numbers
        if numbers > self.largest:
            self.largest = numbers

    def kept(self, own: set[int]) -> int:
        """Numbers in arrays that are alive, but for those whose data lie at these places."""
        return sum(n for place, n in self.alive.items() if place not in own)


_counting: ArrayCount | None = None


@contextmanager
def uncounted() -> Iterator[None]:
    """What is made within is the worker's own."""
    global _counting
    counting, _counting = _counting, None
    try:
        yield
    finally:
        _counting = counting


def made_so_far() -> int:
    """Numbers that were made while the counting that is on goes on."""
    return _counting.made if _counting is not None else 0


def trim_memory() -> None:
    """Give memory that was freed back to the system, where the C library knows how (glibc)."""
    trim = getattr(_libc, "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


_libc = ctypes.PyDLL(None)


def ready() -> None:
    """Make the handler; RuntimeError where this NumPy takes none."""
    before = _set(_ours())
    try:
        made = np.ones(3)
        name = multiarray.get_handler_name(made)
    finally:
        _set(before)
    if name != _NAME.decode():
        raise RuntimeError(f"numpy {np.__version__} takes no handler of memory: nothing is counted")


@lru_cache(maxsize=1)
def _ours() -> Any:
    """The capsule that NumPy takes. It and what it points to live as long as the process."""
    size_t, at = ctypes.c_size_t, ctypes.c_void_p
    allocate = ctypes.PYFUNCTYPE(at, size_t)(("malloc", _libc))
    clear = ctypes.PYFUNCTYPE(at, size_t, size_t)(("calloc", _libc))
    resize = ctypes.PYFUNCTYPE(at, at, size_t)(("realloc", _libc))
    release = ctypes.PYFUNCTYPE(None, at)(("free", _libc))

    def noted(place: int | None, size: int) -> int | None:
        if place and _counting is not None:
            _counting.note(place, size)
        return place

    def malloc(_: object, size: int) -> int | None:
        return noted(allocate(size), size)

    def calloc(_: object, count: int, size: int) -> int | None:
        return noted(clear(count, size), count * size)

    def realloc(_: object, place: int | None, size: int) -> int | None:
        if _counting is not None:
            _counting.alive.pop(place or 0, None)
        return noted(resize(place, size), size)

    def free(_: object, place: int | None, size: int) -> None:
        if _counting is not None:
            _counting.alive.pop(place or 0, None)
        release(place)

    handler = _Handler(
        _NAME, _VERSION, None, _Malloc(malloc), _Calloc(calloc), _Realloc(realloc), _Free(free)
    )
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(handler))  # an array may outlive every module
    return new(ctypes.addressof(handler), b"mem_handler", None)


def _set(capsule: Any) -> Any:
    """Make this the handler of new arrays; the one before."""
    return _setter()(capsule)


@lru_cache(maxsize=1)
def _setter() -> Any:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = pointer(multiarray._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_SET_HANDLER]
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)
