"""The messages between the trusted process and a worker.

Theory of operation. The sender is untrusted. msgspec checks the exact type of each field while it
decodes a header, `frames` checks sizes and nesting, and `values` checks each value against its
buffer.
"""

from enum import Enum
from typing import Literal

import msgspec

from .value_types import Value


class PrepareConfig(msgspec.Struct, frozen=True):
    """Configuration of the fork server before the first fork.

    not_allowed:  patterns of all calls that the rules of the week forbid
    libraries:    packages that submissions may import, in addition to the standard library
    fake_gpu:     whether calls may run on the fake GPU
    extras:       optional packages to import: keras, triton, text
    optimizers, counting, drawing: whether to import the libraries for these features now, instead
                  of in the first call that needs them
    max_reply_bytes: size limit of a reply
    gpu_bytes:    limit of torch's memory on each GPU, or 0 if there is no GPU
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
    """An exercise that is replaced by calls of a correct implementation on the trusted side.

    parameters: parameter names of the function, or of `forward` if the exercise is a torch module
    making:     parameter names of `__init__` if the exercise is a torch module, otherwise None
    """

    name: str
    parameters: tuple[str, ...]
    making: tuple[str, ...] | None = None


class _Framed(_Message, frozen=True, kw_only=True):
    """A message with raw buffers. `buffers`: their lengths, in the order of the frame's body."""

    buffers: tuple[int, ...] = ()


class Load(_Framed, frozen=True, tag="load"):
    """Write the submission's files, import its module, and replace the exercises in `stubs`.

    names, files: paths of the files, and the indices of the buffers with their contents
    seconds:      processor time after which the import is interrupted, or 0 for no limit
    """

    module: str
    names: tuple[str, ...]
    files: tuple[int, ...]
    stubs: tuple[Stub, ...] = ()
    seconds: float = 0.0


class Call(_Framed, frozen=True, tag="call"):
    """Call the attribute `path` of the submission's module, or of the object with this handle.

    exercise:     the exercise that the call belongs to
    device:       device for the arguments and for new modules
    not_allowed:  patterns of calls that are reported
    construct:    the result is a torch module: cast it to `dtype`, move it to `device` and load
                  `state`
    fitting:      load `state` even if names or biases differ. If sizes differ, draw weights that
                  depend only on the parameters' names
    cotangents:   return the vector-Jacobian product with respect to each float input
    count:        count the work of the call
    compiled:     check the kernels of a counted call with Triton's compiler
    order:        seed for the order in which the programs of a Triton kernel run
    kernels_only: report operators that compute with values, or read values, outside of kernels
                  (`Counts.computed`)
    fetch:        return the attribute instead of calling it
    fresh:        reset the global state first, as at the start of a test
    brought:      source of a module that replaces the submission's module in this call
    printing:     return the pair of the value and the printed text
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
    """Allocate this many bytes until the next test, to raise memory use to its earlier peak."""

    bytes: int


class Ahead(_Framed, frozen=True, tag="ahead"):
    """Announce this many bytes of calls, which the worker reads together and executes in order."""

    bytes: int


Answered = Load | Call | Fill  # requests that get a reply
Request = Answered | Ahead


class Raised(_Message, frozen=True):
    """An exception that was raised by a call or by the import of the submission.

    bases:        names of the exception's class and base classes
    line:         innermost line of the submission in the traceback, or None if there is none
    file, column: position at which the import stopped (`stop_location`); empty for calls
    """

    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None
    file: str = ""
    column: int = 0


class Banned(_Message, frozen=True):
    """A forbidden call, and the line of the submission that makes the call, if it is known."""

    call: str
    line: int | None


class Notice(_Message, frozen=True, tag="notice"):
    """An event that is reported before the reply, so that the submission cannot withdraw it.

    kind: "banned" for a forbidden call or for inspecting the grader's frames or functions, and
          "attempt" for other actions that honest code never needs
    """

    kind: Literal["banned", "attempt"]
    what: str
    line: int | None


class StubCall(_Framed, frozen=True, tag="stub_call"):
    """A call of a replaced exercise (`remote_stub`), to which the trusted side sends a `Reply`.

    making:  positional and keyword arguments of the constructor, if the exercise is a class
    called:  whether to call the object with the weights in `state`. If False, only construct the
             object and return its layers, weights and sizes
    random:  state of torch's generator if the call may draw random numbers. The reply's value is
             then a pair of the result and the new state
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
        """All values in the message."""
        positional, named = self.making or ((), {})
        given = (*self.args, *self.kwargs.values(), *positional, *named.values())
        return (*given, *(self.cotangents or ()), self.state, self.random)


RaceKind = Literal["read_after_write", "write_after_read", "write_after_write"]


class Race(_Message, frozen=True):
    """Races of one kind in a launch (`races`). `line`: the line of the first race, if known."""

    kind: RaceKind
    elements: int
    line: int | None = None


class LaunchCounts(_Message, frozen=True):
    """Memory accesses of one launch of a Triton kernel.

    programs:  number of programs that ran
    outside_*: number of elements that were loaded from, or stored to, addresses outside all tensors
    largest:   number of elements in the largest load or store
    loads:     for each tensor that was read: the number of its elements, and how often the least
               and the most frequently loaded elements were loaded
    races:     unordered accesses by different programs, by kind
    line:      line of the first access outside all tensors, or None
    refused:   the error of Triton's compiler if it rejects the kernel, otherwise None
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
    """The work of a call.

    flops:    floating-point operations: one per element, except for matrix products
    largest:  number of elements in the largest new tensor or array
    ops:      number of operations
    kept:     number of elements that stay alive in addition to the result
    computed: names of operators that computed with values outside of Triton kernels
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
    """State that a call must not change."""

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
    """A changed state. `argument`: number of the changed tensor or array from 1, otherwise 0."""

    effect: Effect
    argument: int = 0


class Reply(_Framed, frozen=True, tag="reply"):
    """The outcome of a request. The submission may have forged every field.

    value:     the result
    gradients: vector-Jacobian products with respect to the float inputs, or None if not requested
    detached:  indices of the float results that do not require gradients
    printed:   the beginning of the captured output
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
        """All values in the message."""
        return (self.value, *(self.gradients or ()))
