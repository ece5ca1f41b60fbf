"""Enable the hooks that observe one call, and disable them when the call ends."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import msgspec
import torch

from ..protocol import frames
from ..torch_support import devices
from ..torch_support.tensors import tensors_in
from ..triton_support.kernel_watch import KernelWatch
from ..triton_support.provenance import Provenance
from .call_watch import Counting
from .operator_hooks import hooks_cover

_NOTHING: AbstractContextManager[Any] = nullcontext()


class CallHooks:
    """The hooks of one call; a context in which the call is made and its result encoded.

    The result is encoded inside the context, because signal handlers and finalizers of the
    submission may run until then.

    inputs:        the tensors among the call's arguments
    root:          the submission's folder
    launches:      whether the submission may launch Triton kernels
    function_mode: reports torch's functions by name, for rules that no other hook covers
    """

    def __init__(
        self,
        request: frames.Call,
        inputs: list[torch.Tensor],
        root: str,
        launches: bool,
        function_mode: Any,
    ) -> None:
        self._counting = Counting() if request.count else None
        self._mode = _NOTHING if hooks_cover(request.not_allowed) else function_mode
        self._kept = 0
        follows = request.kernels_only or (request.count and launches)
        on_host = request.device in (devices.CPU, devices.FAKE)
        self._provenance = Provenance(inputs) if follows and on_host else None
        self._watch: KernelWatch | None = None
        if launches or self._provenance is not None:
            self._watch = KernelWatch(
                root, request.order, request.count, request.compiled, self._provenance
            )
        self._stack = ExitStack()

    def __enter__(self) -> CallHooks:
        for hooks in (self._watch, self._provenance):
            if hooks is not None:
                self._stack.enter_context(hooks)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def counting(self) -> AbstractContextManager[Any]:
        """Return the context in which work is counted."""
        return self._counting or _NOTHING

    def forbidding(self) -> AbstractContextManager[Any]:
        """Return the context that reports forbidden functions which no other hook covers."""
        return self._mode

    def keep(self, result: Any) -> None:
        """Count the elements that the forward pass keeps in addition to its result."""
        if self._counting is not None:
            self._kept = self._counting.alive_elements_except(tensors_in(result))

    def counts(self, result: Any) -> frames.Counts | None:
        """Return the work and the operators outside of kernels, or None if not requested."""
        counts = None
        if self._counting is not None:
            launches = tuple(self._watch.launches) if self._watch is not None else ()
            counts = self._counting.counts(self._kept, launches)
        if self._provenance is not None:
            self._provenance.check_result(result)
            outside = self._provenance.names()
            counts = msgspec.structs.replace(counts or frames.Counts(0, 0, 0), computed=outside)
        return counts
