"""The workhorse of hidden graders: `agree.f(...)` calls both sides and compares everything.

A grader author writes `agree.softmax(x, dim=1)` and has a call of the student's function and of
the reference on the same inputs, compared in kind, shape, dtype, device, finiteness and values,
with the arguments and the global state checked to be untouched. Nothing here knows of frames or
sandboxes: a `Side` answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from ...worker.protocol import frames
from ...worker.protocol.values import TORCH_DTYPES
from ..outcomes import Flaw, GraderFault, Wrong
from .call_comparison import IN_A_ROW, BothCalls, Comparison, check_purity, compare_calls
from .call_options import CallOptions
from .calls import is_class
from .pair import Pair, Recipe


@dataclass(frozen=True)
class Agree(Comparison):
    """`agree.f(...)`: both sides are called and must agree. The student's result comes back."""

    state_std: float = 0.3
    brought: str = ""
    order: int | None = None
    kernels_only: bool = False
    prints: bool = False

    def weights(self, std: float) -> Agree:
        """Draw the parameters of modules with this standard deviation (default 0.3)."""
        return replace(self, state_std=std)

    def shuffled(self, seed: int) -> Agree:
        """Run the programs of the student's kernels in another order: `seed` says which."""
        return replace(self, order=seed)

    @property
    def in_kernels(self) -> Agree:
        """Require that results are computed in Triton kernels.

        Around them, torch may make, copy, convert, view and rearrange tensors, and nothing else.
        """
        return replace(self, kernels_only=True)

    @property
    def printing(self) -> Agree:
        """Compare what is printed too, but for spaces at the ends of lines."""
        return replace(self, prints=True)

    def bringing(self, source: str) -> Agree:
        """Call what `source`, a module of the grader's own, defines, beside the submission.

        `agree.bringing(text).JoiningCache()` gives a pair of objects that can be passed on to calls
        of the submission; `agree.bringing(text).probe(pair)` looks at its objects from within.
        """
        return replace(self, brought=source)

    @property
    def in_a_row(self) -> Agree:
        """Call once for each tuple of arguments; gradients flow back when all calls have been made.

        `agree.gradients.in_a_row.f((x, 0), (y, 1))` finds what the first call keeps where the
        second replaces it, as in a network that calls f in each of its layers.
        """
        return self.bringing(IN_A_ROW)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The call by name or dotted path ("FlashAttention.apply")."""
        case = self.case
        if self.brought == IN_A_ROW:
            name, args = "in_a_row", (name, *args)
        if is_class(name):
            return self._construct(name, args, kwargs)
        options = CallOptions(brought=self.brought, printing=self.prints)
        expected = case.reference.call(case, name, args, kwargs, options)
        if isinstance(expected.value, frames.HandleV):
            return self._construct(name, args, kwargs)
        student = CallOptions(
            brought=self.brought,
            order=self.order,
            kernels_only=self.kernels_only,
            printing=self.prints,
        )
        calls = BothCalls(name, args, kwargs, student, options, options)
        return compare_calls(self, calls, expected)

    def _construct(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pair:
        """Build both objects; torch modules get the same drawn weights."""
        case = self.case
        a_class = is_class(name)
        plain = options = CallOptions(brought=self.brought)
        if a_class:
            options = CallOptions(construct=True, dtype=case.dtype, brought=self.brought)
        # A probe on the reference tells whether it is a module and what weights it has.
        reference = case.reference.call(case, name, args, kwargs, options)
        if not isinstance(reference.value, frames.HandleV):
            raise GraderFault(f"{name} of the reference is no object")
        wanted = reference.value.state
        if wanted is None:  # no torch module: one that is shall not be cast and moved
            options = plain
        elif a_class:
            options = options.loading({k: self._drawn(k, *kind) for k, kind in wanted.items()})
            reference = case.reference.call(case, name, args, kwargs, options)
        student = case.student.call(case, name, args, kwargs, options)
        if not isinstance(student.value, frames.HandleV):
            raise Wrong(f"`{name}` should make an object, but gives something else.", Flaw.KIND)
        if wanted is not None and student.value.state is None:
            raise Wrong(f"`{name}` should be a torch nn.Module, but is not.", Flaw.KIND)
        if self.pure and not a_class:  # a constructor may draw its first weights
            check_purity(student.reply, f"`{name}`")
        recipe = Recipe(name, args, kwargs, options)
        return Pair(self, recipe, student.value, reference.value)

    def _drawn(self, key: str, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
        target = TORCH_DTYPES.get(dtype, torch.float32)
        if not target.is_floating_point:
            raise GraderFault(f"the reference's parameter {key} is no float tensor")
        return self.case.draw.like(shape, target, self.state_std)
