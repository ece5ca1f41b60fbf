"""Check that all versions in constraints.txt can be installed on all supported platforms."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]


def pins() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]


def test_the_oldest_python_that_is_allowed_has_all_of_them() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        floor = tomllib.load(file)["project"]["requires-python"].removeprefix(">=") + ".0"
    refused = []
    for pin in pins():
        if pin.marker is not None and not pin.marker.evaluate({"python_full_version": floor}):
            continue
        try:
            wanted = metadata(pin.name).get("Requires-Python") or ""
            known = metadata(pin.name)["Version"]
        except PackageNotFoundError:
            continue  # belongs to an extra that is not installed here
        if known in pin.specifier and floor not in SpecifierSet(wanted):
            refused.append(f"{pin.name} {known} wants Python {wanted}")
    assert refused == []
