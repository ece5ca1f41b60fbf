"""Distributions without a list of their files are visible, as Debian packages them."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from autograder.sandbox import mounts


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A packages folder with a module, a package, and an extension, without a RECORD."""
    folder = tmp_path / "dist-packages"
    for name in ("typing_extensions-4.1.dist-info", "Jinja2-3.1.dist-info", "six-1.16.egg-info"):
        (folder / name).mkdir(parents=True)
        about = f"Metadata-Version: 2.1\nName: {name.split('-')[0]}\nVersion: 1\n"
        for file in ("METADATA", "PKG-INFO"):
            (folder / name / file).write_text(about, encoding="utf-8")
    (folder / "six-1.16.egg-info" / "top_level.txt").write_text("six\n", encoding="utf-8")
    (folder / "jinja2").mkdir()
    for file in ("typing_extensions.py", "six.py", "jinja2/__init__.py", "other.py", "_fast.so"):
        (folder / file).touch()
    return folder


def shown(folder: Path, name: str) -> set[str]:
    found = next(
        d
        for d in metadata.distributions(path=[str(folder)])
        if d.metadata["Name"].lower() == name.lower()
    )
    return {place for place in mounts._places(found) if not place.endswith("-info")}


def test_a_module_of_one_file_is_shown(installed, monkeypatch, tmp_path):
    monkeypatch.setattr(mounts, "_DPKG", tmp_path / "nothing")
    assert shown(installed, "typing_extensions") == {"typing_extensions.py"}
    assert shown(installed, "six") == {"six.py"}


def test_what_the_package_manager_installed_is_shown_and_no_more(installed, monkeypatch, tmp_path):
    monkeypatch.setattr(mounts, "_DPKG", tmp_path)
    files = ("Jinja2-3.1.dist-info/METADATA", "jinja2", "jinja2/__init__.py", "_fast.so")
    lines = ["/.", "/usr", "/usr/share/doc/x", str(installed), *(f"{installed}/{f}" for f in files)]
    (tmp_path / "python3-jinja2.list").write_text("\n".join(lines), encoding="utf-8")
    assert shown(installed, "Jinja2") == {"jinja2", "_fast.so"}


def test_libraries_of_which_there_are_several_are_shown_alone(tmp_path):
    (tmp_path / "real").touch()
    for name in ("libblas.so.3-x86_64-linux-gnu", "editor"):
        (tmp_path / name).symlink_to("real")
    (tmp_path / "libgone.so").symlink_to("nowhere")
    assert [p.name for p in mounts._linked_libraries(tmp_path)] == ["libblas.so.3-x86_64-linux-gnu"]


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
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(mounts, "NEEDED", ("torch",))
    monkeypatch.setattr(mounts, "WELCOME", ())
    names = {d.metadata["Name"] for d in mounts._closure()}
    assert names == {"torch", "toolkit", "sums"}
