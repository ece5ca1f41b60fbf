"""Count the memory of NumPy arrays with a custom allocator (NEP 49, `PyDataMem_SetHandler`).

All functions, methods and ufuncs of NumPy allocate new arrays with this allocator. It records
the number of new arrays and elements, the size of the largest array, and the elements that have not
been freed. Four bytes, the size of a float32, count as one element.

The allocator is a C structure with four functions (a "handler"), installed through NumPy's C API in
the current context (`contextvars`). `check_handler` raises an error if NumPy rejects the handler.
Results in existing arrays (`out=`) are not counted. The grader measures the memory of other
objects, such as lists and bytes, from outside the process.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Self

import numpy as np
from numpy._core import multiarray

_ELEMENT_BYTES = 4
_SET_HANDLER, _VERSION = 304, 1  # index in NumPy's C API, and version of PyDataMem_Handler
_NAME = b"counted"

_Malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_Calloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_Realloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_Free = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Handler(ctypes.Structure):
    """The struct PyDataMem_Handler in NumPy's header ndarraytypes.h."""

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
    """Counts the arrays that NumPy allocates while this is the innermost `ArrayCount` context.

    made:    total number of elements in new arrays
    largest: number of elements in the largest new array
    arrays:  number of new arrays
    alive:   number of elements by address, for arrays that have not been freed
    """

    def __init__(self) -> None:
        self.made = self.largest = self.arrays = 0
        self.alive: dict[int, int] = {}
        self._before: Any = None
        self._outer: ArrayCount | None = None

    def __enter__(self) -> Self:
        global _counting
        self._outer = _counting
        self._before, _counting = _set_handler()(_handler()), self
        return self

    def __exit__(self, *_: object) -> None:
        global _counting
        _counting = self._outer
        _set_handler()(self._before)

    def note(self, address: int, size: int) -> None:
        elements = size // _ELEMENT_BYTES
        self.alive[address] = elements
        self.arrays += 1
        self.made += elements
        if elements > self.largest:
            self.largest = elements

    def alive_elements_except(self, addresses: set[int]) -> int:
        """Return the number of elements not freed yet, except in arrays at these addresses."""
        return sum(n for address, n in self.alive.items() if address not in addresses)


_counting: ArrayCount | None = None


@contextmanager
def uncounted() -> Iterator[None]:
    """Do not count arrays that are allocated in this context, because the worker creates them."""
    global _counting
    counting, _counting = _counting, None
    try:
        yield
    finally:
        _counting = counting


def trim_memory() -> None:
    """Return freed memory to the operating system if the C library is glibc."""
    trim = getattr(_libc, "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


_libc = ctypes.PyDLL(None)


def check_handler() -> None:
    """Raise RuntimeError if this version of NumPy does not accept the handler."""
    before = _set_handler()(_handler())
    try:
        made = np.ones(3)
        name = multiarray.get_handler_name(made)
    finally:
        _set_handler()(before)
    if name != _NAME.decode():
        raise RuntimeError(
            f"numpy {np.__version__} does not accept a memory handler, so arrays cannot be counted"
        )


@cache
def _handler() -> Any:
    """Create the handler, and return a capsule that contains it."""
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
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(handler))  # never freed: arrays may outlive modules
    return new(ctypes.addressof(handler), b"mem_handler", None)


@cache
def _set_handler() -> Any:
    """Return the C function that sets NumPy's handler and returns the previous handler."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = pointer(multiarray._ARRAY_API, None)
    address = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_SET_HANDLER]
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)
