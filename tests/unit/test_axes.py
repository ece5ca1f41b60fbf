"""Test that devices for hidden tests are chosen by name and missing ones are reported."""

from __future__ import annotations

import re

import pytest

from autograder.grading.running.pytest_plugin import Known
from autograder.model import availability
from autograder.model.availability import AXES, CHOICES, axis
from autograder.model.errors import KitError
from autograder.model.report import schema
from autograder.model.report.schema import Verdict
from autograder.worker.protocol.frames import DEVICES


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cuda", "mps"):
        have(monkeypatch, name, False)


def have(monkeypatch: pytest.MonkeyPatch, name: str, here: bool) -> None:
    found = availability.AXES[name]
    other = availability.Axis(
        found.name, found.torch, lambda: here, found.missing, lacks=found.lacks
    )
    monkeypatch.setitem(availability.AXES, name, other)


def test_without_a_gpu_one_is_claimed() -> None:
    assert axis() == ("cpu", "fake-gpu")


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_real_gpu_is_taken_by_itself(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    have(monkeypatch, name, True)
    assert axis() == ("cpu", name)


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_missing_gpu_is_said_in_one_line(name: str) -> None:
    with pytest.raises(KitError, match=re.escape("was found here: use --device auto, cpu or")):
        axis(name)


def test_only_the_workers_of_a_cluster_know_what_they_have() -> None:
    assert axis("cuda", here=False) == ("cpu", "cuda")


def test_an_unknown_device_is_told_which_there_are() -> None:
    with pytest.raises(KitError, match="choose one of auto, cpu, cuda, mps, fake-gpu"):
        axis("tpu")


@pytest.mark.parametrize("name", AXES)
def test_every_device_may_stand_in_a_frame(name: str) -> None:
    assert AXES[name].torch in DEVICES


def test_choices_are_the_axes() -> None:
    assert ("auto", *AXES) == CHOICES


def known(device: str, dtype: str) -> Known:
    return Known(schema.TestReport("test_a.py::test_a", Verdict.PASS, 1.0, ""), "a", device, dtype)


def test_a_float_type_that_a_device_lacks_is_not_run() -> None:
    found = known("mps", "float64").lacking()
    assert found is not None
    assert found.message == "mps has no float64."


@pytest.mark.parametrize("device", ["cpu", "cuda", "fake-gpu"])
def test_other_devices_have_every_float_type(device: str) -> None:
    assert known(device, "float64").lacking() is None
