"""Shared fixtures of week 9's graders: inspect the launches of a kernel.

Values are compared within a few roundings of float32 (`close`), those of float16 within a few of
its own: kernels compute in float32, so a reference in float64 would say nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograder.authors import Counted, expect


@pytest.fixture
def close(agree: Any, dtype_of: Any) -> Any:
    """`close.f(...)`: both sides agree within rounding, of the test's float type."""
    inside = agree.in_kernels
    return inside.within(8e-3, 8e-3) if dtype_of() is torch.float16 else inside.within(2e-6, 2e-6)


@pytest.fixture
def dtype_of(request: Any) -> Callable[[], Any]:
    """The test's float type; float32 in tests that have no such axis."""
    return lambda: (
        request.getfixturevalue("dtype") if "dtype" in request.fixturenames else torch.float32
    )


@pytest.fixture
def stays_inside(count: Any) -> Callable[..., None]:
    """No load and no store of any kernel goes outside of the tensors that it was given."""

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
    """No two programs race, and the result does not depend on the order in which programs run.

    how: compares the results
    """

    def check(how: Any, name: str, *args: Any, **kwargs: Any) -> None:
        # other numbers than those compared below, so that no result can be kept for that
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
    """A kernel does the work; torch and NumPy make, copy and view tensors."""

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
    """Matrices (n, m) that are views: transposed, cut out of a larger one, every second element."""

    def make(n: int, m: int) -> list[Any]:
        return [
            draw.normal(m, n).T,
            draw.normal(n + 3, m + 4)[1 : n + 1, 2 : m + 2],
            draw.normal(2 * n, 3 * m)[::2, ::3],
        ]

    return make
