"""`autograder watch`: checks again what a save has changed, and redraws.

One loop waits for saves and keys alike. The next checking Python is started while the student
reads, so that torch is imported by the time of the next save.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
from rich.console import Console
from watchfiles import Change, watch

from ...model.errors import KitError
from ..checks.launcher import WarmPython
from ..checks.results import CheckResult
from ..folder.source import fingerprints
from ..folder.week import WeekFolder, open_folder
from ..show.check_text import hint_lines, lines, look_of, progress_bar
from ..show.hints import next_hint, shown_hints
from ..show.keys import keys
from ..show.terminal import console
from ..show.wording import next_exercise
from .check import check_week

KEYS = ("h hint", "n next", "l list", "c check all", "q quit")


class Watch:
    """What is on the screen, and what has to be checked again."""

    def __init__(self, folder: WeekFolder, names: tuple[str, ...], seconds: float) -> None:
        self.folder, self.names, self.seconds = folder, names, seconds
        self.result = CheckResult(folder.path, folder.heading, folder.week.module, ())
        self.focus = ""
        self.hints = self.listed = False
        self._seen: dict[str, str] = {}
        self._checks = b""
        self._warm = WarmPython(folder)

    def changed(self) -> tuple[str, ...]:
        """The exercises whose own code, or what it uses, is not what was checked last."""
        checks = self.folder.checks.read_bytes()
        try:
            now = fingerprints(self.folder.source(), self.names)
        except (SyntaxError, ValueError):
            self._seen = {}
            return self.names
        before, self._seen = self._seen, now
        if checks != self._checks:
            self._checks = checks
            return self.names
        return tuple(n for n in self.names if before.get(n) != now[n])

    def check(self, names: Iterable[str]) -> None:
        """Check these exercises; the others keep their results."""
        try:
            found = check_week(
                self.folder, names, seconds=self.seconds, warm=self._warm, asked=False
            )
        except KitError as error:
            self.result = msgspec.structs.replace(self.result, problem=str(error))
            return
        if found.broken:
            self._seen = {}  # a change of any line may mend it for all
        results = {e.name: e for e in (*self.result.exercises, *found.exercises)}
        exercises = tuple(results[n] for n in self.names if n in results)
        self.result = msgspec.structs.replace(found, exercises=exercises)
        if self.focus and results[self.focus].state == "pass":
            self.focus, self.hints = "", False

    def press(self, key: str) -> bool:
        """Act on a key; False ends the watch."""
        current = next_exercise(self.result, self.focus)
        if key == "h" and current:
            self.focus, self.hints = current.name, True
            with contextlib.suppress(KitError):  # a week without hints
                next_hint(self.folder, current.name)
        elif key == "n" and current:
            left = [e.name for e in self.result.exercises if e.state != "pass"]
            self.focus = left[(left.index(current.name) + 1) % len(left)]
            self.hints = False
        elif key == "l":
            self.listed = not self.listed
        elif key == "c":
            self._seen = {}
        return key not in ("q", "\x03", "\x04")

    def draw(self, out: Console, busy: tuple[str, ...] = ()) -> None:
        if out.is_terminal:
            out.clear()
        look = look_of(out, self.listed)
        if self.result.exercises:
            out.print(progress_bar(self.result, look), soft_wrap=True)
        for line in lines(self.result, look, self.focus):
            out.print(line, soft_wrap=True)
        if self.hints:
            out.print()
            for hint in shown_hints(self.folder, self.focus):
                for line in hint_lines(hint, look.width):
                    out.print(line, soft_wrap=True)
        doing = "waiting for you to save"
        if busy:
            doing = f"checking {busy[0] if len(busy) == 1 else f'{len(busy)} exercises'} ..."
        out.print(f"\n{doing}\n{_keys(look.width)}", style="dim", soft_wrap=True)

    def close(self) -> None:
        self._warm.close()


def run_watch(exercise: str | None, folder: Path | None, seconds: float) -> None:
    """Until q is pressed or the terminal interrupts."""
    opened = open_folder(folder)
    names = (opened.exercise(exercise).name,) if exercise else opened.names
    opened.source()
    # a shell that starts a program in the background has it ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out, watching = console(), Watch(opened, names, seconds)
    saves = watch(
        opened.path,
        watch_filter=_matters,
        recursive=False,
        rust_timeout=150,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    try:
        with keys() as read:
            width = out.width
            next(saves)  # looks from now on: a save during the first check counts too
            _look(watching, out)
            for changes in saves:
                key = read()
                if not watching.press(key):
                    return
                if changes or key == "c":
                    _look(watching, out)
                elif key or out.width != width:
                    watching.draw(out)
                width = out.width
    except KeyboardInterrupt:
        return
    finally:
        watching.close()


def _look(watching: Watch, out: Console) -> None:
    try:
        changed = watching.changed()
    except KitError:
        return  # between two steps of an editor's save the file may be away
    if changed:
        watching.draw(out, busy=changed)
        watching.check(changed)
        watching.draw(out)


def _keys(width: int) -> str:
    """What keys do, in lines that fit; without a keyboard, how to end."""
    if not sys.stdin.isatty():
        return "Ctrl-C quits"
    lines = [""]
    for key in KEYS:
        longer = f"{lines[-1]}   {key}".strip()
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(key)
    return "\n".join(lines)


def _matters(change: Change, path: str) -> bool:
    return path.endswith(".py") and change is not Change.deleted
