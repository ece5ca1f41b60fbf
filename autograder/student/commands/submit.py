"""`autograder submit` on a terminal: check, pack, review, submit, show receipt and result."""

from __future__ import annotations

import getpass
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from ...model.errors import KitError
from ...model.submission_zip import packed
from ..folder.packing import HandIn, keep_receipt, pack, to_exchange
from ..folder.week import WeekFolder, open_all, open_folder
from ..show.terminal import console
from .service_client import CourseService, Unknown

_WIDTH = 80  # of what a result says


def run_submit(
    week: str | None,
    folder: Path | None,
    *,
    to: str,
    token: str,
    exchange: bool,
    check: bool,
    ask: bool,
    wait: bool,
) -> bool:
    """Submit a week; return whether the public checks pass, where they were run.

    ask: on a terminal, before anything is submitted.
    """
    opened = _opened(week, folder)
    parcel = pack(opened)
    out = console()
    passed = _checked(out, opened) if check else True
    for note in parcel.notes:
        out.print(f"LOOK  {note}")
    url = "" if exchange else to or opened.week.hand_in
    if url:
        _to_service(out, opened, parcel, CourseService(url), token, ask=ask, wait=wait)
    else:
        _to_exchange(out, opened, parcel, ask=ask)
    return passed and not parcel.notes


def _opened(week: str | None, folder: Path | None) -> WeekFolder:
    if week is None:
        return open_folder(folder)
    weeks = open_all(folder)
    number = week.removeprefix("week").lstrip("0")
    found = [w for w in weeks if w.week.week == week or w.week.week[4:6].lstrip("0") == number]
    if not found:
        known = ", ".join(w.path.name for w in weeks) or "none"
        raise KitError(f"there is no week {week!r} here; there are {known}")
    return found[0]


def _checked(out: Console, folder: WeekFolder) -> bool:
    """Run the public checks and say how the exercises stand, in a few lines."""
    from .check import check_week

    result = check_week(folder, folder.names)
    if result.broken:
        raise KitError(
            f"{result.broken.message}. Nothing in it would count: correct it, or use --no-check"
        )
    held = [e for e in result.exercises if e.state in ("pass", "skipped")]
    out.print(f"{len(held)} of {len(result.exercises)} exercises pass the public checks")
    rest = [e.name for e in result.exercises if e not in held]
    if rest:
        for line in _wrapped(f"not yet: {', '.join(rest)}", 2, out.width):
            out.print(line, soft_wrap=True)
        out.print("  `autograder check` shows why", soft_wrap=True)
    return not rest


def _to_exchange(out: Console, folder: WeekFolder, parcel: HandIn, *, ask: bool) -> None:
    out.print("Parts that you submitted before and leave out now are kept.")
    _say_files(out, parcel)
    _confirm(ask)
    when = to_exchange(folder, parcel)
    out.print(f"Submitted through nbgrader, {when}")
    keep_receipt(folder, f"through nbgrader, {when}, digest {parcel.digest}")


def _say_files(out: Console, parcel: HandIn) -> None:
    out.print(f"  files    {', '.join(parcel.files)}", soft_wrap=True)
    out.print(f"  digest   {parcel.digest}", soft_wrap=True)


def _confirm(ask: bool) -> None:
    """Ask before anything is submitted; raise KitError on a no. Without a terminal: a yes."""
    if not ask or not sys.stdin.isatty():
        return
    try:
        said = input("Submit? [Y/n] ").strip().lower()
    except EOFError:
        said = "n"
    if said not in ("", "y", "yes"):
        raise KitError("nothing was submitted")


# The service


def _to_service(
    out: Console,
    folder: WeekFolder,
    parcel: HandIn,
    remote: CourseService,
    token: str,
    *,
    ask: bool,
    wait: bool,
) -> None:
    review = _reviewed(out, folder, parcel, remote, token)
    for line in review_lines(review):
        out.print(line, soft_wrap=True)
    if review["problem"]:
        raise KitError(f"nothing was submitted. {review['stays']}".rstrip(" ."))
    _confirm(ask)
    said = remote.submit(folder.week.week, review["digest"])
    out.print(f"Submitted: {folder.heading}, {said['received']}")
    out.print(f"  receipt  {said['receipt']}")
    out.print(f"  digest   {said['digest']}", soft_wrap=True)
    keep_receipt(folder, f"receipt {said['receipt']}, {said['received']}, digest {said['digest']}")
    refused = (said["told"] or {}).get("verdict") == "refused"  # these files were sent before
    if said["why"] and not refused:
        out.print(said["why"], soft_wrap=True)
    elif wait:
        _show_result(out, remote, said)
    else:
        out.print(f"  result   {remote.url}tries/{said['receipt']}", soft_wrap=True)


def _reviewed(
    out: Console, folder: WeekFolder, parcel: HandIn, remote: CourseService, token: str
) -> dict[str, Any]:
    """Send the files; return what submitting them would change."""
    data = packed(parcel.files)
    if token:
        remote.enter(token)
    try:
        if not remote.key:
            raise Unknown("you have not signed in here yet")
        return remote.review(folder.week.week, data)
    except Unknown as error:
        if not sys.stdin.isatty() or token:
            raise KitError(
                f"{remote.url}: {error}. Set AUTOGRADER_TOKEN to the token that your instructor or "
                "the web page gave you (in a notebook: %env AUTOGRADER_TOKEN=…), or run this in a "
                "terminal and type the token when you are asked"
            ) from None
        out.print(f"Sign in to {remote.url}: {error}", soft_wrap=True)
        name = remote.enter(getpass.getpass("Token: ").strip())
        out.print(f"This machine submits for {name} from now on.")
        return remote.review(folder.week.week, data)


def review_lines(review: dict[str, Any]) -> Iterator[str]:
    """Return what a submission would contain, in lines of a terminal."""
    width = max((len(line["name"]) for line in review["lines"]), default=0)
    for line in review["lines"]:
        yield f"  {line['name']:{width}}  {line['words']}"
    for note in review["notes"]:
        yield from _wrapped(note, 2)
    yield from _wrapped(review["problem"] or f"{review['summary']} {review['rule']}", 2)


def _show_result(out: Console, remote: CourseService, said: dict[str, Any]) -> None:
    """Wait for the result, and show it; a Ctrl-C ends the waiting only."""
    from ...terminal.console import terminal

    try:
        with terminal(stderr=True).status(_standing(said), spinner="line") as status:
            for state in remote.follow(said["receipt"]):
                said = state
                status.update(_standing(state))
    except KeyboardInterrupt:
        out.print(f"It is submitted. Its result: {remote.url}tries/{said['receipt']}")
        return
    if said["state"] not in ("graded", "replaced"):
        out.print(f"It is submitted. Its result: {remote.url}tries/{said['receipt']}")
        return
    left = remote.result(said["receipt"])
    for line in result_lines(left):
        out.print(line, soft_wrap=True)
    if left.get("better") and left["better"]["restorable"]:
        out.print(f"To go back to it: {remote.url}tries/{left['better']['receipt']}")
    if "left" in left and not left.get("why"):
        out.print(f"{left['left']} of {left['tries']} results left")


def _standing(said: dict[str, Any]) -> str:
    before = f", {said['ahead']} before you" if said.get("ahead") else ""
    wait = f", about {said['seconds']} s" if said.get("seconds") else ""
    return f"  {str(said.get('words', '')).lower()}{before}{wait}"


def result_lines(said: dict[str, Any]) -> Iterator[str]:
    """What a result says, in lines of a terminal."""
    told = said.get("told") or {}
    if said["state"] == "replaced":
        yield "You submitted again before it was graded. It did not use up an attempt."
        return
    if told.get("verdict") == "refused":
        yield "Not accepted: it was not graded and replaces nothing."
    if told.get("message"):
        yield from _wrapped(str(told["message"]), 0)
    if told.get("score") is not None:
        yield f"{told['score']:g} of {told['max_score']:g} points"
    if said.get("better"):
        yield from _wrapped(f"{said['better']['sentence']} {said['rule']}", 0)
    for exercise in told.get("exercises", []):
        yield from _exercise(exercise)


def _exercise(exercise: dict[str, Any]) -> Iterator[str]:
    score = exercise.get("score")
    points = "" if score is None else f"  {score:g} of {exercise['points']:g}"
    words = f"  {exercise['words'].lower()}" if exercise["words"] else ""
    if not words and not exercise["named"]:
        return
    yield f"{exercise['mark'] or '-'} {exercise['name']}{words}{points}"
    for named in exercise["named"]:
        title = named["title"]
        yield from _wrapped(f"It looks as if your code {title[:1].lower()}{title[1:]}", 4)
        yield from _wrapped(named["hint"], 4)
    yield from _wrapped(exercise["where"], 4)
    yield from _wrapped(exercise["carried"], 4)
    if exercise["named"]:
        return
    for cause in exercise["causes"][:2]:
        line = f" at line {cause['line']}" if cause["line"] else ""
        yield from _wrapped(f"{cause['verdict']}{line}: {cause['claims'][0]}", 4)
        yield from _wrapped(cause.get("others", ""), 4)


def _wrapped(text: str, indent: int, width: int = _WIDTH) -> Iterator[str]:
    space = " " * indent
    for paragraph in text.splitlines():
        yield from textwrap.wrap(
            paragraph, max(width, 40), initial_indent=space, subsequent_indent=space
        )


def token_given() -> str:
    return os.environ.get("AUTOGRADER_TOKEN", "")
