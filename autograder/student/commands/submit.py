"""Submit a week to the course's service or to nbgrader, and print the receipt and the result."""

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
from ...terminal.console import Terminal
from ..checks.check_results import CheckResult
from ..folder.packing import SubmissionFiles, exchange_program, save_receipt, submit_to_exchange
from ..folder.week import WeekFolder, open_all, open_folder
from ..show.check_text import wrapped
from ..show.wording import summary
from .check import check_week
from .service_client import CourseService, SignInRequired

TOKEN_VARIABLE = "AUTOGRADER_TOKEN"
_WIDTH = 80
Lines = Iterator[tuple[int, str]]  # (indentation, text)


def find_week_folder(week: str | None, folder: Path | None) -> WeekFolder:
    """Open a week by name or number; default: the current week. Raise KitError if not found."""
    if week is None:
        return open_folder(folder)
    weeks = open_all(folder)
    number = week.removeprefix("week").lstrip("0")
    for opened in weeks:
        if week == opened.week.week or number == opened.week.week[4:6].lstrip("0"):
            return opened
    names = ", ".join(w.path.name for w in weeks) or "none"
    raise KitError(f"there is no week {week!r} here; there are {names}")


def run_public_checks(out: Console, folder: WeekFolder) -> CheckResult:
    """Check all exercises and print a summary; raise KitError if the import fails."""
    result = check_week(folder, folder.names)
    if result.broken:
        raise KitError(
            f"{result.broken.message}. It would earn no points: fix the error, or use --no-check "
            "to submit anyway"
        )
    out.print(summary(result))
    if failing := result.unfinished:
        out.print(f"  not yet: {', '.join(failing)}: `autograder check` shows why")
    return result


def _confirm(out: Console, confirm: bool) -> None:
    """Ask for confirmation on a terminal; raise KitError if the student declines."""
    if not confirm or not sys.stdin.isatty():
        return
    try:
        out.print("Submit? [Y/n] ", end="")
        answer = input().strip().lower()
    except EOFError:
        answer = "n"
    if answer not in ("", "y", "yes"):
        raise KitError("nothing was submitted")


def destination(folder: WeekFolder, url: str) -> CourseService | str:
    """Return the service at `url` or, if `url` is "", the path of nbgrader.

    Raise KitError if there is nowhere to submit, so that nobody waits for the checks first.
    """
    if not url:
        return exchange_program(folder)
    service = CourseService(url)
    if not service.key and not os.environ.get(TOKEN_VARIABLE) and not sys.stdin.isatty():
        raise KitError(_sign_in(service, "you have not signed in here yet"))
    return service


def _sign_in(service: CourseService, reason: object) -> str:
    return (
        f"{service.url}: {reason}. Set {TOKEN_VARIABLE} to the token from your instructor or the "
        f"web page (in a notebook: %env {TOKEN_VARIABLE}=…), or run this command in a terminal and "
        "type the token when prompted"
    )


def send_to_exchange(
    out: Console, folder: WeekFolder, parcel: SubmissionFiles, program: str, *, confirm: bool
) -> dict[str, Any]:
    """Submit files through nbgrader's exchange; return a receipt. `confirm`: ask first."""
    out.print("Parts of earlier submissions that are not in this one are kept.")
    out.print(f"  files    {', '.join(parcel.files)}")
    out.print(f"  digest   {parcel.digest}")
    _confirm(out, confirm)
    when = submit_to_exchange(folder, parcel, program)
    out.print(f"Submitted through nbgrader, {when}")
    save_receipt(folder, f"through nbgrader, {when}, digest {parcel.digest}")
    return {"receipt": f"nbgrader, {when}"}


def send_to_service(
    out: Console,
    folder: WeekFolder,
    parcel: SubmissionFiles,
    service: CourseService,
    *,
    confirm: bool,
    wait: bool,
) -> dict[str, Any]:
    """Submit files to the course's service; return the service's last reply.

    confirm: on a terminal, ask before submitting. wait: wait for the result and print it.
    """
    review = _review(out, folder, parcel, service)
    _print(out, review_lines(review))
    if review["problem"]:
        raise KitError(f"nothing was submitted. {review['stays']}".rstrip(" ."))
    _confirm(out, confirm)
    reply = service.submit(folder.week.week, review["digest"])
    receipt, received, digest = reply["receipt"], reply["received"], reply["digest"]
    out.print(f"Submitted: {folder.heading}, {received}")
    out.print(f"  receipt  {receipt}")
    out.print(f"  digest   {digest}")
    save_receipt(folder, f"receipt {receipt}, {received}, digest {digest}")
    # the result of a refused submission already states the reason
    refused = (reply["result"] or {}).get("verdict") == "refused"
    if reply["why"] and not refused:
        out.print(reply["why"])
    elif wait:
        reply = _show_result(out, service, reply)
    else:
        out.print(f"  result   {service.url}tries/{receipt}")
    return reply


def _review(
    out: Console, folder: WeekFolder, parcel: SubmissionFiles, service: CourseService
) -> dict[str, Any]:
    """Sign in if necessary and upload the files; return the effects that submitting would have."""
    data = packed(parcel.files)
    token = os.environ.get(TOKEN_VARIABLE, "")
    try:
        if token:
            service.sign_in(token)
    except SignInRequired:  # a token works once, and the variable is often still set
        if not service.key:
            raise
        out.print(f"{TOKEN_VARIABLE} is unknown or used: using the sign-in of this machine")
    try:
        if not service.key:
            raise SignInRequired("you have not signed in here yet")
        return service.review(folder.week.week, data)
    except SignInRequired as error:
        if not sys.stdin.isatty() or token:
            raise KitError(_sign_in(service, error)) from None
        out.print(f"Sign in to {service.url}: {error}")
        name = service.sign_in(getpass.getpass("Token: ").strip())
        out.print(f"You are signed in as {name} on this machine.")
        return service.review(folder.week.week, data)


def review_lines(review: dict[str, Any]) -> Lines:
    """Yield the contents and effects of a reviewed submission, as (indentation, text)."""
    width = max((len(line["name"]) for line in review["lines"]), default=0)
    for line in review["lines"]:
        yield 2, f"{line['name']:{width}}  {line['words']}"
    for note in review["notes"]:
        yield 2, note
    yield 2, review["problem"] or f"{review['summary']} {review['rule']}"


def _show_result(out: Console, service: CourseService, reply: dict[str, Any]) -> dict[str, Any]:
    """Wait for the result and print it; return the last reply.

    Ctrl-C or a lost connection ends the wait, but keeps the submission.
    """
    receipt = reply["receipt"]
    with (
        Terminal(stderr=True).status(_queue_state(reply), spinner="line") as status,
        contextlib.suppress(KeyboardInterrupt, KitError),  # such as a lost connection
    ):
        for state in service.follow(receipt):
            reply = state
            status.update(_queue_state(reply))
    if reply["state"] not in ("graded", "replaced"):
        out.print(f"It is submitted. See the result at {service.url}tries/{receipt}")
        return reply
    _print(out, result_lines(reply))
    out.print(f"Details: {service.url}tries/{receipt}")
    if reply.get("better") and reply["better"]["restorable"]:
        out.print(f"To restore it: {service.url}tries/{reply['better']['receipt']}")
    if "left" in reply and not reply.get("why"):
        out.print(f"{reply['left']} of {reply['tries']} results left")
    return reply


def _queue_state(reply: dict[str, Any]) -> str:
    before = f", {reply['ahead']} before you" if reply.get("ahead") else ""
    wait = f", about {reply['seconds']} s" if reply.get("seconds") else ""
    return f"  {str(reply.get('words', '')).lower()}{before}{wait}"


def result_lines(result: dict[str, Any]) -> Lines:
    """Yield, as (indentation, text), the part of a result that the student may see."""
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
    for named in exercise["named"][:1]:
        title, opening = named["title"], named.get("opening", "It looks as if your code")
        yield 4, f"{opening} {title[:1].lower()}{title[1:]}"
        yield 4, named["hint"]
    if example := exercise.get("counterexample"):
        yield from _example_lines(example)
    yield 4, exercise["where"]
    is_named = exercise["named"] and not exercise["named"][0].get("is_minor")
    for cause in exercise["causes"][:1] if not is_named else ():
        line = f" at line {cause['line']}" if cause["line"] else ""
        yield 4, f"{cause['verdict']}{line}: {cause['claims'][0]}"
    if not exercise["causes"]:
        yield 4, exercise["carried"]


def _example_lines(example: dict[str, Any]) -> Lines:
    for title, part in (("For", "call"), ("Expected", "expected"), ("Got", "actual")):
        first, *rest = str(example[part]).split("\n")
        yield 4, f"{title + ':':9} {first}"
        for line in rest:
            yield 14, line
    yield 4, str(example.get("wrong_value", ""))


def _print(out: Console, lines: Lines) -> None:
    for indent, text in lines:
        for line in wrapped(text, indent, _WIDTH) if text else ():
            out.print(line)
