"""`autograder submit`: check, collect files, review, submit, show receipt and result."""

from __future__ import annotations

import contextlib
import getpass
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from ...model.errors import KitError
from ...model.submission_files import packed
from ...terminal.console import terminal
from ..folder.packing import SubmissionFiles, pack, save_receipt, submit_to_exchange
from ..folder.week import WeekFolder, open_all, open_folder
from ..show.check_text import wrapped
from ..show.terminal import console
from ..show.wording import summary
from .check import check_week
from .service_client import CourseService, SignInRequired

TOKEN_VARIABLE = "AUTOGRADER_TOKEN"
_WIDTH = 80
Lines = Iterator[tuple[int, str]]  # (indentation, text)


def run_submit(
    week: str | None,
    folder: Path | None,
    *,
    to: str,
    exchange: bool,
    check: bool,
    confirm: bool,
    wait: bool,
) -> bool:
    """Submit a week; return False if a public check fails or a note needs attention.

    to: URL of a service; default: the week's service. exchange: use nbgrader's exchange instead.
    check: run the public checks first. confirm: ask on a terminal. wait: wait for the result.
    """
    opened = _find_week(week, folder)
    parcel = pack(opened)
    out = console()
    passed = _run_checks(out, opened) if check else True
    for note in parcel.notes:
        out.print(f"LOOK  {note}")
    url = "" if exchange else to or opened.week.hand_in
    if url:
        _send_to_service(out, opened, parcel, CourseService(url), confirm=confirm, wait=wait)
    else:
        out.print("Parts that you submitted before and leave out now are kept.")
        out.print(f"  files    {', '.join(parcel.files)}", soft_wrap=True)
        out.print(f"  digest   {parcel.digest}", soft_wrap=True)
        _confirm(confirm)
        when = submit_to_exchange(opened, parcel)
        out.print(f"Submitted through nbgrader, {when}")
        save_receipt(opened, f"through nbgrader, {when}, digest {parcel.digest}")
    return passed and not parcel.notes


def _find_week(week: str | None, folder: Path | None) -> WeekFolder:
    if week is None:
        return open_folder(folder)
    weeks = open_all(folder)
    number = week.removeprefix("week").lstrip("0")
    for opened in weeks:
        if week == opened.week.week or number == opened.week.week[4:6].lstrip("0"):
            return opened
    names = ", ".join(w.path.name for w in weeks) or "none"
    raise KitError(f"there is no week {week!r} here; there are {names}")


def _run_checks(out: Console, folder: WeekFolder) -> bool:
    result = check_week(folder, folder.names)
    if result.broken:
        raise KitError(
            f"{result.broken.message}. It would earn no points: fix it, or use --no-check"
        )
    out.print(summary(result), soft_wrap=True)
    failing = [e.name for e in result.exercises if e.state not in ("pass", "skipped")]
    if failing:
        out.print(f"  not yet: {', '.join(failing)}: `autograder check` shows why", soft_wrap=True)
    return not failing


def _confirm(confirm: bool) -> None:
    """Ask for confirmation on a terminal; raise KitError if the student declines."""
    if not confirm or not sys.stdin.isatty():
        return
    try:
        answer = input("Submit? [Y/n] ").strip().lower()
    except EOFError:
        answer = "n"
    if answer not in ("", "y", "yes"):
        raise KitError("nothing was submitted")


def _send_to_service(
    out: Console,
    folder: WeekFolder,
    parcel: SubmissionFiles,
    service: CourseService,
    *,
    confirm: bool,
    wait: bool,
) -> None:
    review = _review(out, folder, parcel, service)
    _print(out, review_lines(review))
    if review["problem"]:
        raise KitError(f"nothing was submitted. {review['stays']}".rstrip(" ."))
    _confirm(confirm)
    reply = service.submit(folder.week.week, review["digest"])
    receipt, received, digest = reply["receipt"], reply["received"], reply["digest"]
    out.print(f"Submitted: {folder.heading}, {received}")
    out.print(f"  receipt  {receipt}")
    out.print(f"  digest   {digest}", soft_wrap=True)
    save_receipt(folder, f"receipt {receipt}, {received}, digest {digest}")
    refused = (reply["result"] or {}).get("verdict") == "refused"  # these files were sent before
    if reply["why"] and not refused:
        out.print(reply["why"], soft_wrap=True)
    elif wait:
        _show_result(out, service, reply)
    else:
        out.print(f"  result   {service.url}tries/{receipt}", soft_wrap=True)


def _review(
    out: Console, folder: WeekFolder, parcel: SubmissionFiles, service: CourseService
) -> dict[str, Any]:
    """Send the files, signing in if needed; return what submitting them would change."""
    data = packed(parcel.files)
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token:
        service.sign_in(token)
    try:
        if not service.key:
            raise SignInRequired("you have not signed in here yet")
        return service.review(folder.week.week, data)
    except SignInRequired as error:
        if not sys.stdin.isatty() or token:
            raise KitError(
                f"{service.url}: {error}. Set {TOKEN_VARIABLE} to the token from your instructor "
                f"or the web page (in a notebook: %env {TOKEN_VARIABLE}=…), or run this in a "
                "terminal and type the token when prompted"
            ) from None
        out.print(f"Sign in to {service.url}: {error}", soft_wrap=True)
        name = service.sign_in(getpass.getpass("Token: ").strip())
        out.print(f"This machine now submits for {name}.")
        return service.review(folder.week.week, data)


def review_lines(review: dict[str, Any]) -> Lines:
    """Format the contents and effects of a submission."""
    width = max((len(line["name"]) for line in review["lines"]), default=0)
    for line in review["lines"]:
        yield 2, f"{line['name']:{width}}  {line['words']}"
    for note in review["notes"]:
        yield 2, note
    yield 2, review["problem"] or f"{review['summary']} {review['rule']}"


def _show_result(out: Console, service: CourseService, reply: dict[str, Any]) -> None:
    """Wait for the result and print it; Ctrl-C stops waiting and keeps the submission."""
    receipt = reply["receipt"]
    with (
        terminal(stderr=True).status(_queue_state(reply), spinner="line") as status,
        contextlib.suppress(KeyboardInterrupt),
    ):
        for state in service.follow(receipt):
            reply = state
            status.update(_queue_state(reply))
    if reply["state"] not in ("graded", "replaced"):
        out.print(f"It is submitted. See the result at {service.url}tries/{receipt}")
        return
    _print(out, result_lines(reply))
    if reply.get("better") and reply["better"]["restorable"]:
        out.print(f"To restore it: {service.url}tries/{reply['better']['receipt']}")
    if "left" in reply and not reply.get("why"):
        out.print(f"{reply['left']} of {reply['tries']} results left")


def _queue_state(reply: dict[str, Any]) -> str:
    before = f", {reply['ahead']} before you" if reply.get("ahead") else ""
    wait = f", about {reply['seconds']} s" if reply.get("seconds") else ""
    return f"  {str(reply.get('words', '')).lower()}{before}{wait}"


def result_lines(result: dict[str, Any]) -> Lines:
    """Format a result for its student."""
    visible = result.get("result") or {}
    if result["state"] == "replaced":
        yield 0, "You submitted again before it was graded. It did not use up an attempt."
        return
    if visible.get("verdict") == "refused":
        yield 0, "Not accepted: it was not graded and replaces nothing."
    if visible.get("message"):
        yield 0, str(visible["message"])
    if visible.get("score") is not None:
        yield 0, f"{visible['score']:g} of {visible['max_score']:g} points"
    if result.get("better"):
        yield 0, f"{result['better']['sentence']} {result['rule']}"
    for exercise in visible.get("exercises", []):
        yield from _exercise_lines(exercise)


def _exercise_lines(exercise: dict[str, Any]) -> Lines:
    score = exercise.get("score")
    points = "" if score is None else f"  {score:g} of {exercise['points']:g}"
    words = f"  {exercise['words'].lower()}" if exercise["words"] else ""
    if not words and not exercise["named"]:
        return
    yield 0, f"{exercise['mark'] or '-'} {exercise['name']}{words}{points}"
    for named in exercise["named"]:
        title = named["title"]
        yield 4, f"It looks as if your code {title[:1].lower()}{title[1:]}"
        yield 4, named["hint"]
    yield 4, exercise["where"]
    yield 4, exercise["carried"]
    for cause in exercise["causes"][:2] if not exercise["named"] else ():
        line = f" at line {cause['line']}" if cause["line"] else ""
        yield 4, f"{cause['verdict']}{line}: {cause['claims'][0]}"
        yield 4, cause.get("others", "")


def _print(out: Console, lines: Lines) -> None:
    for indent, text in lines:
        for line in wrapped(text, indent, _WIDTH) if text else ():
            out.print(line, soft_wrap=True)
