"""Repositories that are made to end the collecting, or to use up the collector's machine."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.channels import git as channel
from autograder.channels.git import collect_git, read_repositories
from autograder.model.course import Course
from tests.channels.test_git import CODE, EARLY, Commit, commit, course, git  # noqa: F401
from tests.courses import write_below

Make = Callable[[Path], None]


def stored(folder: Path, kind: str, data: bytes) -> str:
    """Store an object in git's format, valid or not."""
    whole = f"{kind} {len(data)}\0".encode() + data
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    path = folder / ".git/objects" / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return name


def tree(folder: Path, *entries: tuple[str, bytes, str]) -> str:
    parts = (m.encode() + b" " + n + b"\0" + bytes.fromhex(h) for m, n, h in entries)
    return stored(folder, "tree", b"".join(parts))


def put(folder: Path, root: str, date: str = "1800000000 +0000") -> None:
    text = f"tree {root}\nauthor A <a@b> {date}\ncommitter A <a@b> {date}\n\nx\n"
    (folder / ".git/refs/heads/main").write_text(stored(folder, "commit", text.encode()) + "\n")


def dated(date: str) -> Make:
    return lambda folder: put(folder, git(folder, "rev-parse", "HEAD^{tree}").strip(), date)


def listing(*entries: tuple[str, bytes, bytes]) -> Make:
    """A commit of these files: mode, name, content."""

    def make(folder: Path) -> None:
        put(folder, tree(folder, *((m, n, stored(folder, "blob", d)) for m, n, d in entries)))

    return make


def bomb(folder: Path) -> None:
    """A billion files in ten objects."""
    blob = stored(folder, "blob", b"x = 1\n")
    root = tree(folder, *(("100644", b"f%d.py" % i, blob) for i in range(10)))
    for _ in range(8):
        root = tree(folder, *(("40000", b"d%d" % i, root) for i in range(10)))
    put(folder, root)


def climbing(folder: Path) -> None:
    inner = tree(folder, ("100644", b"tiny.py", stored(folder, "blob", b"x = 1\n")))
    put(folder, tree(folder, ("40000", b"..", inner)))


def deep(folder: Path) -> None:
    blob = stored(folder, "blob", b"x = 1\n")
    root = tree(folder, ("100644", b"f.py", blob))
    for _ in range(1500):
        root = tree(folder, ("40000", b"d", root))
    put(folder, tree(folder, ("40000", b"d", root), ("100644", b"tiny.py", blob)))


def in_both(folder: Path) -> None:
    """One name for a file and a folder."""
    blob = stored(folder, "blob", b"x = 1\n")
    inner = tree(folder, ("100644", b"b.py", blob))
    put(folder, tree(folder, ("100644", b"a", blob), ("40000", b"a", inner)))


def written(name: str, text: str) -> Make:
    """A file of the repository's own that git reads."""

    def make(folder: Path) -> None:
        (folder / ".git" / name).parent.mkdir(exist_ok=True)
        with (folder / ".git" / name).open("a") as file:
            file.write(text)

    return make


def pointing(to: str) -> Make:
    return lambda folder: (folder / ".git/HEAD").write_text(f"ref: {to}\n") and None


QUICK: dict[str, Make] = {"no date": dated("yesterday"), "a billion files": bomb}
MORE: dict[str, Make] = {
    "a date far away": dated("99999999999999 +0000"),
    "a date beyond numbers": dated("18446744073709551614 +0000"),
    "a date before all": dated("-99999999999999 +0000"),
    "no text for a name": listing(("100644", b"a\xff.py", b"x"), ("100644", b"tiny.py", b"x = 1")),
    "one name twice": listing(("100644", b"tiny.py", b"a"), ("100644", b"tiny.py", b"b")),
    "a path for a name": listing(("100644", b"../../../evil.py", b"x")),
    "a name without end": listing(("100644", b"n" * 5000 + b".py", b"x")),
    "a link": listing(("120000", b"tiny.py", b"/etc/passwd")),
    "a commit for a file": listing(("160000", b"tiny.py", b"x")),
    "climbing": climbing,
    "deep": deep,
    "in both": in_both,
    "an option for a branch": pointing("refs/heads/--output=x"),
    "no branch": pointing("refs/heads/nothing"),
    "objects elsewhere": written("objects/info/alternates", "/etc\n/root/.ssh\n"),
    "grafts": written("info/grafts", "1" * 40 + "\n"),
    "settings": written(
        "config",
        '[uploadpack]\n packObjectsHook = "touch PWNED; false"\n[core]\n fsmonitor = touch PWNED\n',
    ),
}


@pytest.fixture
def collected(commit: Commit, course: Course, tmp_path: Path) -> Callable[..., list[str]]:  # noqa: F811
    """Collect from eve, whose repository is changed, and from zoe; who was collected."""

    def collected(make: Make, newest: bool) -> list[str]:
        make(commit("eve", {"tiny.py": CODE}, EARLY))
        commit("zoe", {"tiny.py": CODE}, EARLY)
        roster = tmp_path / "students.csv"
        roster.write_text("username\neve\nzoe\n")
        repositories = read_repositories(roster, f"{tmp_path}/clones/week01-{{username}}")
        place = tmp_path / "submitted"
        week = course.weeks[0]
        found = collect_git(
            course, week, repositories, write_below(place, week.name), newest=newest
        )
        strange = [p for p in tmp_path.rglob("*") if p.name in ("evil.py", "PWNED")]
        assert not strange
        assert not [p for p in place.rglob("*") if p.is_symlink()]
        return sorted(found.collected)

    return collected


@pytest.mark.parametrize("kind", QUICK)
def test_one_repository_costs_nobody_else_their_work(kind: str, collected) -> None:
    assert collected(QUICK[kind], newest=True) == ["zoe"]


@pytest.mark.thorough
@pytest.mark.parametrize("newest", [False, True])
@pytest.mark.parametrize("kind", MORE)
def test_no_kind_of_repository_does(kind: str, newest: bool, collected) -> None:
    assert "zoe" in collected(MORE[kind], newest=newest)


def test_git_may_write_no_file_without_end(collected, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "_MAX_WRITTEN", 1 << 16)
    large = hashlib.shake_256(b"noise").digest(1 << 17)
    assert collected(listing(("100644", b"tiny.py", large)), newest=True) == ["zoe"]
