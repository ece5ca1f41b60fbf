"""The messages between the trusted process and a worker.

Theory of operation. The worker is untrusted. msgspec checks the exact type of each field while it
decodes a header, `frames` checks sizes and nesting, and `values` checks each tensor and array
against its buffer.
"""

from enum import Enum
from typing import Literal

import msgspec

from .value_types import Value


class PrepareConfig(msgspec.Struct, frozen=True):
    """Configuration of the fork server, applied before the first fork.

    not_allowed:  patterns of all functions that the week's rules forbid
    libraries:    packages that submissions may import, in addition to the standard library
    fake_gpu:     whether calls may run on the fake GPU
    extras:       extras whose packages are imported: "keras", "triton", "text"
    optimizers, counting, drawing: whether to import the libraries for these features now, instead
                  of in the first call that needs them
    max_reply_bytes: size limit of a reply
    gpu_bytes:    limit on torch's memory on each GPU, or 0 if there is no GPU
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
    """An exercise to replace by calls to a correct implementation in the trusted process.

    parameters: parameter names of the function, or of `forward` if the exercise is a torch module
    making:     parameter names of `__init__` if the exercise is a torch module, otherwise None
    """

    name: str
    parameters: tuple[str, ...]
    making: tuple[str, ...] | None = None


class _Framed(_Message, frozen=True, kw_only=True):
    """A message with raw buffers. `buffers`: lengths of the buffers in the frame's body."""

    buffers: tuple[int, ...] = ()


class Load(_Framed, frozen=True, tag="load"):
    """Write the submission's files, import its module, and replace the exercises in `stubs`.

    names, files: paths of the files, and indices of the buffers with the files' contents
    seconds:      processor time after which the import is interrupted, or 0 for no limit
    """

    module: str
    names: tuple[str, ...]
    files: tuple[int, ...]
    stubs: tuple[Stub, ...] = ()
    seconds: float = 0.0


class Call(_Framed, frozen=True, tag="call"):
    """Call the attribute `path` of the object `handle`, or of the module if `handle` is None.

    exercise:     name of the exercise that is tested
    path:         attribute names separated by dots, or "" for the object itself
    device:       device for the arguments and for new modules
    not_allowed:  patterns of functions whose calls are reported
    construct:    whether the result is a new torch module, which is then cast to `dtype`, moved to
                  `device` and loaded with `state`
    fitting:      whether to load what fits of `state` if names, biases or the division into layers
                  differ. Other weights depend only on the parameters' names and shapes
    cotangents:   gradients with respect to the float results, or None for no backward pass
    count:        whether to count operations and elements
    compiled:     whether to check the kernels of a counted call with Triton's compiler
    order:        seed for the order of a Triton kernel's programs, or None for the usual order
    kernels_only: whether to report operators that compute with values, or read values, outside of
                  kernels (`Counts.computed`)
    fetch:        whether to return the attribute instead of calling it
    fresh:        whether to reset the global state first, as at the start of a test
    brought:      source code of a module to call instead of the submission's module, or ""
    printing:     whether to return a pair of the result and the printed text
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
    """Hold this many bytes until the next test, so that memory use returns to its earlier peak."""

    bytes: int


class Ahead(_Framed, frozen=True, tag="ahead"):
    """Announce this many bytes of calls, which the worker reads at once and executes in order."""

    bytes: int


Answered = Load | Call | Fill  # requests that get a reply
Request = Answered | Ahead


class Raised(_Message, frozen=True):
    """An exception that a call or the submission's import raised.

    bases:        names of the exception's class and base classes
    line:         innermost line of the submission in the traceback, or None if unknown
    file, column: file and column where the import stopped (`stop_location`); "" and 0 for calls
    """

    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None
    file: str = ""
    column: int = 0


class Banned(_Message, frozen=True):
    """A call of a forbidden function. `line`: its line in the submission, or None if unknown."""

    call: str
    line: int | None


class Notice(_Message, frozen=True, tag="notice"):
    """A report that is sent before the reply, so that the submission cannot suppress it.

    kind: "banned" for a forbidden call or for inspecting the grader's frames or functions, and
          "attempt" for other actions that honest code never needs
    """

    kind: Literal["banned", "attempt"]
    what: str
    line: int | None


class StubCall(_Framed, frozen=True, tag="stub_call"):
    """A call of a replaced exercise (`remote_stub`). The trusted process answers with a `Reply`.

    making:  positional and keyword arguments of the constructor if the exercise is a class
    called:  whether to call the object with the weights in `state`. If False, only construct the
             object and return its layers, weights and sizes
    random:  state of torch's generator if the call may draw random numbers, otherwise None. With a
             state, the reply's value is a pair of the result and the new state
    dropped: whether an argument was omitted because the correct exercise has no parameter for it

    The other fields have the same meaning as in `Call`.
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
        """Return all values in the message."""
        positional, named = self.making or ((), {})
        given = (*self.args, *self.kwargs.values(), *positional, *named.values())
        return (*given, *(self.cotangents or ()), self.state, self.random)


RaceKind = Literal["read_after_write", "write_after_read", "write_after_write"]


class Race(_Message, frozen=True):
    """The races of one kind in a launch. `line`: line of the first race, or None if unknown."""

    kind: RaceKind
    elements: int
    line: int | None = None


class LaunchCounts(_Message, frozen=True):
    """The memory accesses in one launch of a Triton kernel.

    programs:  number of programs that ran
    outside_*: number of elements that were loaded from, or stored to, addresses outside all tensors
    largest:   number of elements in the largest load or store
    loads:     for up to 16 tensors that were loaded: the number of elements, and the smallest and
               largest number of loads of an element
    races:     unordered accesses by different programs, by kind
    line:      line of the first access outside all tensors, or None if there is none
    refused:   error of Triton's compiler, or None if the kernel was accepted or not checked
    """

    programs: int
    outside_loads: int
    outside_stores: int
    largest: int
    loads: tuple[tuple[int, int, int], ...]
    races: tuple[Race, ...] = ()
    line: int | None = None
    refused: Raised | None = None


RESULT = "result"  # entry of `Counts.computed` if no kernel wrote the result


class Counts(_Message, frozen=True):
    """The number of operations and elements in a call.

    flops:    floating-point operations: one per element, unless torch has a formula
    largest:  number of elements in the largest new tensor or array
    ops:      number of calls of torch operators (except views), plus number of new NumPy arrays
    kept:     number of elements that the forward pass keeps alive in addition to the result
    computed: names of operators that computed with values, or read them, outside of Triton kernels
    """

    flops: int
    largest: int
    ops: int
    kept: int = 0
    launches: tuple[LaunchCounts, ...] = ()
    computed: tuple[str, ...] = ()


class StateMismatch(_Message, frozen=True):
    """Differences between a module's state dict and the expected one.

    shapes: name, expected shape and actual shape of each entry whose shape differs
    """

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    shapes: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]


class Effect(Enum):
    """A kind of side effect that a call must not have."""

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
    """A side effect. `argument`: index (from 1) among the call's tensors or arrays; otherwise 0."""

    effect: Effect
    argument: int = 0


class Reply(_Framed, frozen=True, tag="reply"):
    """The outcome of a request. The submission may have forged every field.

    value:     the result
    gradients: VJPs for the float inputs; () if no result requires gradients, None if not requested
    detached:  indices of the float results that do not require gradients
    printed:   the captured output, truncated (`reporting.MAX_CHARACTERS`)
    """

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
        """Return all values in the message."""
        return (self.value, *(self.gradients or ()))
