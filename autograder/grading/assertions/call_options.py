"""How a call across the seam is made, besides its name and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import torch


class CallOptions(msgspec.Struct, frozen=True):
    """The options of one call (wire.Call says what each does to it).

    handle: the object that is called; None: the module
    construct: the result is a new module, to be cast to `dtype` and given `state`
    cotangents: what to pull back to every float input; None asks for no gradients
    count: count the work
    compiled: of what is counted, ask Triton's compiler about each kernel
    order: a seed for the order in which the programs of a kernel run
    kernels_only: ask what computes with values outside of Triton's kernels
    fetch: read the attribute, and do not call it
    brought: the source of a module of the grader's own, to be called in place of the submission's
    printing: what the call prints comes with its value
    owner: the name of the object's class, for messages
    """

    handle: int | None = None
    construct: bool = False
    dtype: str | None = None
    state: Mapping[str, torch.Tensor] | None = None
    cotangents: Sequence[torch.Tensor] | None = None
    count: bool = False
    compiled: bool = False
    order: int | None = None
    kernels_only: bool = False
    fetch: bool = False
    brought: str = ""
    printing: bool = False
    owner: str = ""

    def pulling(self, cotangents: Sequence[torch.Tensor] | None) -> CallOptions:
        """The same call, asked for gradients too (or not, if None)."""
        return msgspec.structs.replace(self, cotangents=cotangents)

    def loading(self, state: Mapping[str, torch.Tensor] | None) -> CallOptions:
        """The same call, with the parameters that a new module shall have."""
        return msgspec.structs.replace(self, state=state)

    def widened(self) -> CallOptions:
        """The same call for the reference in float64: a new module is made in it."""
        return self if self.dtype is None else msgspec.structs.replace(self, dtype="float64")


PLAIN = CallOptions()
