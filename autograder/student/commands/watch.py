"""`autograder watch`: check changed exercises after each save, and redraw the screen.

One loop waits for both saves and keys. The checking process for the next save starts while the
student reads, so torch is imported by then.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text
from watchfiles import Change, watch

from ...model.errors import KitError
from ..checks.check_results import CheckResult
from ..checks.launcher import WarmPython
from ..folder.source import fingerprints
from ..folder.week import WeekFolder, open_folder
from ..show.check_text import Layout, hint_lines, layout_of, lines
from ..show.hints import next_hint, past_hints
from ..show.progress import bar
from ..show.terminal import console, key_presses
from ..show.wording import next_exercise
from .check import check_week

KEYS = ("h hint", "n next", "l list", "c check all", "q quit")


class Watch:
    """The content of the screen, and which exercises have to be checked again."""

    def __init__(self, folder: WeekFolder, names: tuple[str, ...], seconds: float) -> None:
        self.folder, self.names, self.seconds = folder, names, seconds
        self.result = CheckResult(folder.path, folder.heading, folder.week.module, ())
        self.focus = ""
        self.hints = self.listed = False
        self._fingerprints: dict[str, str] = {}
        self._checks = b""
        self._warm = WarmPython(folder)

    def changed(self) -> tuple[str, ...]:
        """Return the exercises whose code, or code that they use, changed since the last call."""
        checks = self.folder.checks.read_bytes()
        try:
            now = fingerprints(self.folder.source(), self.names)
        except (SyntaxError, ValueError):
            self._fingerprints = {}
            return self.names
        before, self._fingerprints = self._fingerprints, now
        if checks != self._checks:
            self._checks = checks
            return self.names
        return tuple(n for n in self.names if before.get(n) != now[n])

    def check(self, names: Iterable[str]) -> None:
        """Check these exercises; the others keep their results."""
        try:
            found = check_week(
                self.folder, names, seconds=self.seconds, warm=self._warm, note_unsaved=False
            )
        except KitError as error:
            self.result = msgspec.structs.replace(self.result, problem=str(error))
            return
        if found.broken:
            self._fingerprints = {}  # fixing any line may fix all exercises
        results = {e.name: e for e in (*self.result.exercises, *found.exercises)}
        exercises = tuple(results[n] for n in self.names if n in results)
        self.result = msgspec.structs.replace(found, exercises=exercises)
        if self.focus and results[self.focus].state == "pass":
            self.focus, self.hints = "", False

    def press(self, key: str) -> bool:
        """Act on a key; return False to end the watch."""
        current = next_exercise(self.result, self.focus)
        if key == "h" and current:
            self.focus, self.hints = current.name, True
            with contextlib.suppress(KitError):  # the week may have no hints
                next_hint(self.folder, current.name)
        elif key == "n" and current:
            left = [e.name for e in self.result.exercises if e.state != "pass"]
            self.focus = left[(left.index(current.name) + 1) % len(left)]
            self.hints = False
        elif key == "l":
            self.listed = not self.listed
        elif key == "c":
            self._fingerprints = {}
        return key not in ("q", "\x03", "\x04")

    def draw(self, out: Console, checking: tuple[str, ...] = ()) -> None:
        """Redraw the screen; `checking`: the exercises that are being checked."""
        if out.is_terminal:
            out.clear()
        layout = layout_of(out, self.listed)
        if self.result.exercises:
            out.print(self._bar(layout), soft_wrap=True)
        for line in lines(self.result, layout, self.focus):
            out.print(line, soft_wrap=True)
        if self.hints:
            out.print()
            for hint in past_hints(self.folder, self.focus):
                for line in hint_lines(hint, layout.width):
                    out.print(line, soft_wrap=True)
        state = "waiting for you to save"
        if checking:
            what = checking[0] if len(checking) == 1 else f"{len(checking)} exercises"
            state = f"checking {what} ..."
        out.print(f"\n{state}\n{_key_lines(layout.width)}", style="dim", soft_wrap=True)

    def _bar(self, layout: Layout) -> Text:
        total = len(self.result.exercises)
        done = sum(e.state == "pass" for e in self.result.exercises)
        text = Text(bar(done, total, min(24, layout.width - 16), layout.unicode), style="green")
        return text.append(f"  {done} of {total}", style="default")

    def close(self) -> None:
        self._warm.close()


def run_watch(exercise: str | None, folder: Path | None, seconds: float) -> None:
    """Watch until q or Ctrl-C is pressed."""
    opened = open_folder(folder)
    names = (opened.exercise(exercise).name,) if exercise else opened.names
    opened.source()
    # shells start background programs with Ctrl-C ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out, watching = console(), Watch(opened, names, seconds)
    saves = watch(
        opened.path,
        watch_filter=lambda change, path: path.endswith(".py") and change is not Change.deleted,
        recursive=False,
        rust_timeout=150,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    try:
        with key_presses() as read:
            width = out.width
            next(saves)  # start watching, so that a save during the first check counts
            _check_changes(watching, out)
            for changes in saves:
                key = read()
                if not watching.press(key):
                    return
                if changes or key == "c":
                    _check_changes(watching, out)
                elif key or out.width != width:
                    watching.draw(out)
                width = out.width
    except KeyboardInterrupt:
        return
    finally:
        watching.close()


def _check_changes(watching: Watch, out: Console) -> None:
    try:
        changed = watching.changed()
    except KitError:
        return  # an editor may replace the file in two steps
    if changed:
        watching.draw(out, changed)
        watching.check(changed)
        watching.draw(out)


def _key_lines(width: int) -> str:
    """List the keys, or how to quit without a keyboard."""
    if not sys.stdin.isatty():
        return "Ctrl-C quits"
    keys = "   ".join(key.replace(" ", "\N{NO-BREAK SPACE}") for key in KEYS)
    return textwrap.fill(keys, width).replace("\N{NO-BREAK SPACE}", " ")
