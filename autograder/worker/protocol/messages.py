"""The messages between the trusted process and a worker.

Theory of operation. The sender may lie about everything. Every field has an exact type that msgspec
checks while it decodes a header; `frames` checks sizes and nesting, and `values` checks each value
against its buffer. A `buffers` field lists the lengths of the raw buffers that follow the header.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

import msgspec

from .value_types import Value


class PrepareConfig(msgspec.Struct, frozen=True):
    """The fork server's preparations before the first fork.

    not_allowed:  patterns of all calls that a rule of the week forbids
    libraries:    packages that submissions may import, in addition to the standard library
    fake_gpu:     whether calls may run on the fake GPU
    extras:       optional packages to import: keras, triton, text
    optimizers, counting, drawing: import their libraries now, instead of in the first call
    max_reply_bytes: size limit of a reply
    gpu_bytes:    limit of torch's memory on each GPU; 0 if there is no GPU
    """

    not_allowed: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    fake_gpu: bool = True
    extras: tuple[str, ...] = ()
    optimizers: bool = False
    counting: bool = True
    drawing: bool = True
    max_reply_bytes: int = 8 << 20
    gpu_bytes: int = 0


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="message_type"):
    pass


class Stub(_Message, frozen=True):
    """An exercise whose calls are answered by a correct implementation on the trusted side.

    parameters: names of its parameters in order; of `forward`, if it is a class of torch modules
    making:     names of the parameters of `__init__`, if it is such a class
    """

    name: str
    parameters: tuple[str, ...]
    making: tuple[str, ...] | None = None


class _Framed(_Message, frozen=True, kw_only=True):
    """A message with raw buffers. `buffers`: their lengths, in the order of the frame's body."""

    buffers: tuple[int, ...] = ()


class Load(_Framed, frozen=True, tag="load"):
    """Write the submission's files, import its module, and replace the exercises in `stubs`.

    names, files: paths of the files, and the buffers with their contents
    seconds:      processor time after which the import is interrupted; 0: no limit
    """

    module: str
    names: tuple[str, ...]
    files: tuple[int, ...]
    stubs: tuple[Stub, ...] = ()
    seconds: float = 0.0


class Call(_Framed, frozen=True, tag="call"):
    """Call the attribute `path` of the module (`handle` None) or of an object that stays here.

    exercise:     the exercise that the call belongs to
    device:       where arguments and new modules are placed
    not_allowed:  patterns of calls that are reported
    construct:    cast a new torch module to `dtype`, move it to `device` and load `state`
    fitting:      load `state` also if names or biases differ; if sizes differ, draw weights that
                  depend on the names alone
    cotangents:   return the vector-Jacobian product with respect to every float input
    count:        count the work of the call
    compiled:     ask Triton's compiler about the kernels of a counted call
    order:        a seed for the order in which the programs of a Triton kernel run
    kernels_only: report operators that compute with values, or read them, outside of kernels
                  (`Counts.computed`)
    fetch:        return the attribute itself instead of calling it
    fresh:        reset the global state first, as at the start of a test
    brought:      source of a module that is searched instead of the submission's
    printing:     return a pair: the value and the printed text
    """

    exercise: str
    handle: int | None
    path: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    device: str
    not_allowed: tuple[str, ...] = ()
    construct: bool = False
    fitting: bool = False
    dtype: str | None = None
    state: Value = None
    cotangents: tuple[Value, ...] | None = None
    count: bool = False
    compiled: bool = False
    order: int | None = None
    kernels_only: bool = False
    fetch: bool = False
    fresh: bool = False
    brought: str = ""
    printing: bool = False


class Fill(_Framed, frozen=True, tag="fill"):
    """Allocate this many bytes until the next test, so that memory is as full as at its peak."""

    bytes: int


class Ahead(_Framed, frozen=True, tag="ahead"):
    """Announce this many bytes of calls, which are read together and answered in order."""

    bytes: int


Answered = Load | Call | Fill  # requests that get a reply
Request = Answered | Ahead


class Raised(_Message, frozen=True):
    """An exception that the submission raised in a call or that stopped its import.

    bases:        names of its class and base classes
    line:         the submission's innermost line, if it was involved
    file, column: where the import stopped (`stop_location`); not set for calls
    """

    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None
    file: str = ""
    column: int = 0


class Banned(_Message, frozen=True):
    """A forbidden call, and the line of the submission that makes it."""

    call: str
    line: int | None


class Notice(_Message, frozen=True, tag="notice"):
    """An observation that is sent before the reply, so that the submission cannot withdraw it.

    kind: "banned" for a forbidden call, or for inspecting the grader's frames or functions;
          "attempt" for other actions that honest work never needs
    """

    kind: Literal["banned", "attempt"]
    what: str
    line: int | None


class StubCall(_Framed, frozen=True, tag="stub_call"):
    """A call of a replaced exercise (`remote_stub`), sent before the reply; a `Reply` answers it.

    making: the positional and keyword arguments that an object is made with
    called: False if the object is only made: the answer is its layers, weights and sizes. Otherwise
            it is called with the weights in `state`
    random: the state of torch's generator, if the call may draw; the answer is then a pair with the
            state afterwards
    dropped: whether an argument was left out because the correct exercise lacks a parameter for it

    The other fields are as in a `Call`.
    """

    helper: str
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = {}
    making: tuple[tuple[Value, ...], dict[str, Value]] | None = None
    called: bool = True
    training: bool = True
    dtype: str | None = None
    state: Value = None
    cotangents: tuple[Value, ...] | None = None
    random: Value = None
    dropped: bool = False

    @property
    def values(self) -> tuple[Value, ...]:
        """All values in the message."""
        positional, named = self.making or ((), {})
        given = (*self.args, *self.kwargs.values(), *positional, *named.values())
        return (*given, *(self.cotangents or ()), self.state, self.random)


RaceKind = Literal["read_after_write", "write_after_read", "write_after_write"]


class Race(_Message, frozen=True):
    """A kind of race between a launch's programs (`races`). `line`: where the first one happens."""

    kind: RaceKind
    elements: int
    line: int | None = None


class LaunchCounts(_Message, frozen=True):
    """The accesses of one launch of a Triton kernel.

    programs:  number of programs that ran
    outside_*: number of elements accessed outside of every tensor; `line`: the first such access
    largest:   number of elements in the largest load or store
    loads:     for each tensor that was read: its size, and how often its least and its most loaded
               elements were loaded
    races:     unordered accesses of different programs, by kind
    refused:   the error of Triton's compiler, if it refuses the kernel
    """

    programs: int
    outside_loads: int
    outside_stores: int
    largest: int
    loads: tuple[tuple[int, int, int], ...]
    races: tuple[Race, ...] = ()
    line: int | None = None
    refused: Raised | None = None


RESULT = "result"  # in `Counts.computed`: no kernel wrote the result


class Counts(_Message, frozen=True):
    """The work of a call.

    flops:    floating-point operations; one per element, except for matrix products
    largest:  elements of the largest tensor or array that was made
    ops:      number of operations
    kept:     elements that stay alive in addition to the result
    computed: names of operators that computed outside of Triton's kernels
    """

    flops: int
    largest: int
    ops: int
    kept: int = 0
    launches: tuple[LaunchCounts, ...] = ()
    computed: tuple[str, ...] = ()


class StateMismatch(_Message, frozen=True):
    """Names and shapes of a module's parameters that differ from the expected ones."""

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    shapes: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]


class Effect(Enum):
    """State that a call changed and must not change."""

    TENSOR = "tensor"
    TENSOR_SHAPE = "tensor_shape"
    ARRAY = "array"
    MODE = "mode"
    ATTENTION = "attention"
    OUTPUT_ATTENTIONS = "output_attentions"
    TORCH_RANDOM = "torch_random"
    NUMPY_RANDOM = "numpy_random"
    PYTHON_RANDOM = "python_random"
    DEFAULT_DTYPE = "default_dtype"
    GRADIENT_MODE = "gradient_mode"
    DEFAULT_DEVICE = "default_device"
    THREADS = "threads"
    PRINTING = "printing"
    NUMPY_ERRORS = "numpy_errors"
    SHARED_MEMORY = "shared_memory"
    DRAWING_SETTINGS = "drawing_settings"
    WINDOW = "window"
    OTHER_FIGURES = "other_figures"


class SideEffect(_Message, frozen=True):
    """A change of state. `argument`: the number of the changed tensor or array from 1, or 0."""

    effect: Effect
    argument: int = 0


class Reply(_Framed, frozen=True, tag="reply"):
    """The outcome of a request. The submission may have forged all of it."""

    status: Literal["ok", "raised", "missing", "state", "too_large"]
    value: Value = None
    gradients: tuple[Value, ...] | None = None
    detached: tuple[int, ...] = ()
    raised: Raised | None = None
    mismatch: StateMismatch | None = None
    side_effects: tuple[SideEffect, ...] = ()
    banned: tuple[Banned, ...] = ()
    counts: Counts | None = None
    printed: str = ""

    @property
    def values(self) -> tuple[Value, ...]:
        """All values in the message."""
        return (self.value, *(self.gradients or ()))
