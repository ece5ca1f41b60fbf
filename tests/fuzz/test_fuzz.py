"""The doors under some hundreds of generated inputs each; `make fuzz` throws millions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fuzz import targets

BOUNDED = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize("target", targets.ALL, ids=lambda t: t.__name__)
@BOUNDED
@given(data=st.binary(max_size=300))
def test_no_bytes_bring_a_door_down(target: Callable[[bytes], None], data: bytes) -> None:
    target(data)


@pytest.mark.parametrize("target", targets.ALL, ids=lambda t: t.__name__)
@BOUNDED
@given(places=st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 255)), max_size=12))
@example(places=[])
def test_no_damage_to_what_was_right_brings_a_door_down(
    target: Callable[[bytes], None], places: list[tuple[int, int]]
) -> None:
    for seed in targets.seeds(target.__name__):
        data = bytearray(seed)
        for place, byte in places:
            data[place % len(data)] = byte
        target(bytes(data))
