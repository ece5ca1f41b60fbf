"""The main fixture of hidden tests: `agree.f(...)` calls both sides and compares everything.

`agree.softmax(x, dim=1)` calls the student's function and the reference with the same inputs and
compares kind, shape, dtype, device, finiteness and values; arguments and global state must be
unchanged. Sandboxes and frames are hidden behind `case.Side`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from ...worker.protocol import frames
from ...worker.protocol.values import TORCH_DTYPES
from ..outcomes import Flaw, GraderFault, Wrong
from .call_comparison import IN_A_ROW, BothCalls, Comparison, check_side_effects, compare_calls
from .calls import NamedCalls, RemoteObject, is_class
from .case import CallOptions
from .pair import Pair


@dataclass(frozen=True)
class Agree(Comparison, NamedCalls):
    """`agree.f(...)`: both sides are called and must agree. Returns the student's result."""

    state_std: float = 0.3
    brought: str = ""
    order: int | None = None
    kernels_only: bool = False
    prints: bool = False

    def weights(self, std: float) -> Agree:
        """Draw the parameters of modules with this standard deviation (default 0.3)."""
        return replace(self, state_std=std)

    def shuffled(self, seed: int) -> Agree:
        """Run the programs of the student's Triton kernels in a random order, drawn from `seed`."""
        return replace(self, order=seed)

    @property
    def in_kernels(self) -> Agree:
        """Require that results are computed in Triton kernels.

        Outside of kernels, torch may only create, copy, convert, view and rearrange tensors.
        """
        return replace(self, kernels_only=True)

    @property
    def printing(self) -> Agree:
        """Compare the printed text too, except for spaces at the ends of lines."""
        return replace(self, prints=True)

    def bringing(self, source: str) -> Agree:
        """Run `source`, a helper module of the hidden test, on both sides, and call its functions.

        `agree.bringing(text).JoiningCache()` returns a pair of objects that can be arguments of the
        submission's functions; `agree.bringing(text).probe(pair)` inspects them in their process.
        """
        return replace(self, brought=source)

    @property
    def in_a_row(self) -> Agree:
        """Call once for each tuple of arguments, and backpropagate only after the last call.

        `agree.gradients.in_a_row.f((x, 0), (y, 1))` finds state that the second call overwrites, as
        in a network that calls f in each of its layers.
        """
        return self.bringing(IN_A_ROW)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call by name or dotted path ("FlashAttention.apply")."""
        case = self.case
        if self.brought == IN_A_ROW:
            name, args = "in_a_row", (name, *args)
        if is_class(name):
            return self._construct(name, args, kwargs)
        options = CallOptions(brought=self.brought, printing=self.prints)
        expected = case.reference.call(case, name, args, kwargs, options)
        if isinstance(expected.value, frames.HandleV):
            return self._construct(name, args, kwargs)
        student = options.but(order=self.order, kernels_only=self.kernels_only)
        calls = BothCalls(name, args, kwargs, student, options, options)
        return compare_calls(self, calls, expected)

    def _construct(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pair:
        """Create an object on both sides; torch modules get the same random parameters."""
        case, from_class = self.case, is_class(name)
        plain = options = CallOptions(brought=self.brought)
        if from_class:
            options = plain.but(construct=True, dtype=case.dtype)
        # Create the reference's object first, to see whether it is a module, and its parameters.
        reference = case.reference.call(case, name, args, kwargs, options)
        if not isinstance(reference.value, frames.HandleV):
            raise GraderFault(f"{name} of the reference does not make an object")
        parameters = reference.value.state
        if parameters is None:  # not a torch module: do not cast and move it
            options = plain
        elif from_class:
            state = {key: self._drawn(key, *kind) for key, kind in parameters.items()}
            options = options.but(state=state)
            reference = case.reference.call(case, name, args, kwargs, options)
        student = case.student.call(case, name, args, kwargs, options)
        if not isinstance(student.value, frames.HandleV):
            raise Wrong(f"`{name}` should make an object, but returns something else.", Flaw.KIND)
        if parameters is not None and student.value.state is None:
            raise Wrong(f"`{name}` should be a torch nn.Module, but is not.", Flaw.KIND)
        if self.pure and not from_class:  # a constructor may draw its initial weights
            check_side_effects(student.reply, f"`{name}`")
        common = {n: getattr(self, n) for n in Comparison.__dataclass_fields__}
        return Pair(
            **common,
            made_by=name,
            parameters=tuple(options.state or ()),
            on_student=RemoteObject(
                case, case.student, student.value, case.signatures.class_of(name)
            ),
            on_reference=RemoteObject(case, case.reference, reference.value),
            on_precise=self._precise_object(name, args, kwargs, options),
        )

    def _precise_object(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], options: CallOptions
    ) -> RemoteObject | None:
        case = self.case
        if case.dtype == "float64":
            return None
        if options.dtype is not None:
            options = options.but(dtype="float64")
        try:
            made = case.precise.call(case, name, args, kwargs, options)
        except GraderFault:
            return None  # then compare in the reference's own dtype
        return RemoteObject(case, case.precise, made.value)

    def _drawn(self, key: str, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
        target = TORCH_DTYPES.get(dtype, torch.float32)
        if not target.is_floating_point:
            raise GraderFault(f"the reference's parameter {key} is not a float tensor")
        return self.case.draw.like(shape, target, self.state_std)
