"""Folders in the exchange that try to stop the collection of other submissions."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.nbgrader.tiny_course import WEEK
from tests.serve.test_inbox import SECRET, inbound, left  # noqa: F401

Make = Callable[[Path], Path | None]


def renamed(name: str) -> Make:
    return lambda folder: folder.rename(folder.with_name(name))


def holding(name: str, text: str = "x = 1\n") -> Make:
    """Add a file; its name may contain bytes that are not text."""

    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return make


def deep(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=descriptor)
        inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)


def full_of_holes(folder: Path) -> None:
    with (folder / "a.py").open("wb") as file:
        file.truncate(1 << 40)


def special(name: str, make: Callable[[Path], None]) -> Make:
    def changed(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return changed


def crowded(folder: Path) -> None:
    for number in range(3000):
        (folder / f"f{number}.py").touch()


ENDS = {"fifo": os.mkfifo, "folder": os.mkdir, "null": lambda p: os.symlink("/dev/zero", p)}
QUICK: dict[str, Make] = {
    "a name that is not text": renamed(f"eve+{WEEK}+2026-01-10 12:00:00 UTC+\udcff\udcfe"),
    "the end of time": renamed(f"eve+{WEEK}+9999-12-31 23:59:59 UTC+abc"),
    "a file name that is not text": holding("a\udcff.py"),
    "folders in folders": deep,
}
MORE: dict[str, Make] = {
    "the beginning of time": renamed(f"eve+{WEEK}+0001-01-01 00:00:00-23:59+x"),
    "a week's date": renamed(f"eve+{WEEK}+2026-W01-1+x"),
    "escapes in a name": renamed(f"eve+{WEEK}+2026-01-10 12:00:00 UTC+\x1b]52;c;QQ==\x07"),
    "escapes in a file's name": holding("n\n\r\x1b]8;;http:x\x07.py"),
    "a folder name that is not text": holding("a\udcff/x.py"),
    "an option for a name": holding("-rf.py"),
    "a name of blanks": holding(" .py"),
    "a name without end": holding("n" * 250 + ".py"),
    "a sparse file of a terabyte": full_of_holes,
    "a crowd": crowded,
    **{f"a {k} for a file": special("b.py", m) for k, m in ENDS.items()},
    **{f"a {k} for the secret": special("submission_secret.txt", m) for k, m in ENDS.items()},
    **{f"a {k} for the notebook": special(f"{WEEK}.ipynb", m) for k, m in ENDS.items()},
}


@pytest.fixture
def take(service, inbound: Path) -> Iterator[Callable[[Make], dict[str, list[bytes]]]]:  # noqa: F811
    def take(make: Make) -> dict[str, list[bytes]]:
        place = left(inbound, "eve", stamp="2026-01-10 12:00:00 UTC")
        place = make(place) or place
        for path in place.iterdir():
            os.utime(path, (time.time() - 60, time.time() - 60), follow_symlinks=False)
        left(inbound, "zoe")
        while service.inbox.look():
            pass
        return {
            who: [service.queue.content(t.digest) for t in service.queue.of_student(who, WEEK)]
            for who in ("eve", "zoe")
        }

    yield take
    subprocess.run(["rm", "-rf", str(inbound)], check=True)  # deeper than Python can remove


@pytest.mark.parametrize("kind", QUICK)
def test_one_folder_costs_nobody_else_their_hand_in(kind: str, take) -> None:
    assert len(take(QUICK[kind])["zoe"]) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MORE)
def test_no_kind_of_folder_does(kind: str, take) -> None:
    taken = take(MORE[kind])
    assert len(taken["zoe"]) == 1
    assert all(len(content) < 1 << 20 for content in taken["eve"])


def test_a_file_whose_name_is_no_text_costs_its_owner_that_file_alone(take) -> None:
    (content,) = take(QUICK["a file name that is not text"])["eve"]
    assert b"doubling.py" in content


def test_nothing_was_handed_in_at_a_time_to_come(service, take) -> None:
    take(QUICK["the end of time"])
    (one,) = service.queue.of_student("eve", WEEK)
    assert one.received <= service.queue.clock()


def test_the_secret_is_letters_and_digits(take) -> None:
    (content,) = take(holding("submission_secret.txt", "../" + SECRET))["eve"]
    assert b"submission_secret" not in content


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_nobody_hands_in_for_another_who_has_an_account(service, inbound: Path) -> None:  # noqa: F811
    os.chown(left(inbound, "nobody"), 12345, 12345)  # a name that every machine has
    service.inbox.look()
    assert service.queue.of_student("nobody", WEEK) == []
    assert "does not belong" in service.incidents.current["left in the exchange"].message
