"""The distributions that are visible in the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.sandbox import mounts


def test_what_is_required_with_an_extra_is_shown_with_what_the_extra_requires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requires = {
        "torch": ["toolkit[sums]==1; platform_system == 'Linux'", "other; extra == 'wanted'"],
        "toolkit": ["sums; extra == 'sums'", "curves; extra == 'curves'"],
        "sums": [],
        "curves": [],
        "other": [],
    }
    for name, needs in requires.items():
        folder = tmp_path / f"{name}-1.dist-info"
        folder.mkdir()
        lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1", "Provides-Extra: sums"]
        about = "\n".join([*lines, *(f"Requires-Dist: {n}" for n in needs)])
        (folder / "METADATA").write_text(f"{about}\n", encoding="utf-8")
        (folder / "RECORD").write_text(f"{name}.py,,\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(mounts, "NEEDED", ("torch",))
    monkeypatch.setattr(mounts, "WELCOME", ())
    names = {d.metadata["Name"] for d in mounts.required_distributions()}
    assert names == {"torch", "toolkit", "sums"}
