"""Shared fixtures of week 9's graders, most of which inspect kernel launches.

`close` allows a few rounding errors of float32, or of float16 in float16 tests. Kernels compute
in float32, so a float64 reference would not make the comparison more precise.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.authors import Counted, expect


@pytest.fixture
def close(agree: Any, dtype_of: Any) -> Any:
    """Compare results within rounding errors of the test's dtype: `close.f(...)`."""
    inside = agree.in_kernels
    return inside.within(8e-3, 8e-3) if dtype_of() is torch.float16 else inside.within(2e-6, 2e-6)


@pytest.fixture
def dtype_of(request: Any) -> Callable[[], Any]:
    """Return a function that returns the test's dtype, or float32 if the test has no `dtype`."""
    return lambda: (
        request.getfixturevalue("dtype") if "dtype" in request.fixturenames else torch.float32
    )


@pytest.fixture
def stays_inside(count: Any) -> Callable[..., None]:
    """Check that no kernel loads or stores outside of the tensors passed to it."""

    def check(name: str, *args: Any, **kwargs: Any) -> None:
        for launch in launches_of(count.call(name, *args, **kwargs)):
            what = "load" if launch.outside_loads else "store"
            expect(
                not (launch.outside_loads or launch.outside_stores),
                f"A {what} goes outside of its tensor{launch.place}. Mask positions past the "
                "end of a row or column, and use the strides.",
            )

    return check


RACES = {
    "read_after_write": "One program loads an element that another program has stored",
    "write_after_read": "One program stores to an element that another program has loaded",
    "write_after_write": "Two programs store different values to the same element",
}


@pytest.fixture
def any_order(count: Any) -> Callable[..., None]:
    """Check that programs do not race, and that their order does not change the result.

    how: the `agree` that compares the results
    """

    def check(how: Any, name: str, *args: Any, **kwargs: Any) -> None:
        # different inputs, so that the call below cannot reuse these results
        others = [2 * x if isinstance(x, torch.Tensor) else x for x in args]
        for launch in launches_of(count.call(name, *others, **kwargs)):
            for race in launch.races:
                expect(
                    False,
                    f"{RACES[race.kind]}{race.place}. On a GPU programs run at the same time, so "
                    "either access may come first. Let each program store to elements that no "
                    "other program uses, or use atomic operations.",
                )
        how.shuffled(1).call(name, *args, **kwargs)

    return check


@pytest.fixture
def kernels_alone(count: Any) -> Callable[..., None]:
    """Check that kernels do all computation; torch may only create, copy and view tensors."""

    def check(name: str, *args: Any, **kwargs: Any) -> None:
        counted = count.call(name, *args, **kwargs)
        launches_of(counted)
        expect(
            not counted.computed,
            "Something outside of a kernel computes. Around kernels, torch may only make, copy and "
            "view tensors.",
        )

    return check


@pytest.fixture
def compiles(count: Any) -> Callable[..., None]:
    """Check that Triton's compiler accepts the kernel, as far as possible without a GPU."""

    def check(name: str, *args: Any, **kwargs: Any) -> None:
        for launch in launches_of(count.compiled.call(name, *args, **kwargs)):
            expect(
                not launch.refused,
                f"The interpreter runs this kernel, but a GPU's compiler refuses it{launch.said}",
            )

    return check


def launches_of(counted: Counted) -> tuple[Any, ...]:
    expect(len(counted.launches) > 0, "No kernel was launched.")
    return counted.launches


@pytest.fixture
def views(draw: Any) -> Callable[[int, int], list[Any]]:
    """Draw matrices (n, m) that are views: transposed, part of a larger matrix, or strided."""

    def make(n: int, m: int) -> list[Any]:
        return [
            draw.normal(m, n).T,
            draw.normal(n + 3, m + 4)[1 : n + 1, 2 : m + 2],
            draw.normal(2 * n, 3 * m)[::2, ::3],
        ]

    return make


@pytest.fixture
def trained_head(draw: Any) -> tuple[torch.Tensor, ...]:
    """Draw a head of the course's language model: its q, k and v (T, d) on a sentence."""
    with np.load(Path(__file__).with_name("trained.npz")) as file:
        heads = {name: torch.tensor(file[name]) for name in ("q", "k", "v")}
    layer, head = (int(draw.integers(0, size)) for size in heads["q"].shape[:2])
    group = heads["q"].shape[1] // heads["k"].shape[1]
    return (
        heads["q"][layer, head],
        heads["k"][layer, head // group],
        heads["v"][layer, head // group],
    )
