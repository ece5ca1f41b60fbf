"""Merge a submission with the student's earlier one, so that no part is lost.

A submission has parts: the module, each written answer, and the files that the module may use. A
part that is missing, or equals the released one, is kept from the student's earlier submission. All
channels use `merge`, so they keep, replace and refuse parts in the same way.

The files are not trusted: notebooks are parsed within limits and never run, the module is parsed
and never imported, and names that begin with a dot are dropped.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

import msgspec

from ...batch.intake import IGNORED_FOLDERS, clean_name, is_wanted, read_files
from ...batch.module_name import module_candidates, with_module
from ...lms.bulk import content_of
from ...model.course import Course, Week
from ...model.notes import Note
from ...model.source.import_failure import ImportFailure, explained
from ..regrade.requests import REQUEST
from ..workspace import Workspace
from .history import SubmittedPart
from .notebooks import PICTURES, text_in
from .submitted import FROM_NBGRADER, UNREADABLE, parse_notebook

Files = Mapping[str, bytes]
_Answers = dict[str, tuple[str, Any]]  # by question: the text and the pictures
_LAST_CELL = 900  # a restored answer is inserted before it, because later cells may be cut


class Merged(msgspec.Struct, frozen=True):
    """A submission as it will be graded. Merging its files again has no effect."""

    files: dict[str, bytes]
    parts: tuple[SubmittedPart, ...]  # module, answers in the order of the week, other files
    problem: str = ""  # why it cannot be graded; the earlier submission then stays
    notes: tuple[Note, ...] = ()

    @property
    def unchanged(self) -> bool:
        """Return True if nothing that is graded differs from the earlier submission."""
        return all(p.fate not in ("new", "replaced") for p in self.parts)


def merge(course: Course, week: Week, earlier: Files, incoming: Files) -> Merged:
    """Merge incoming files with those of the student's earlier submission (empty if none).

    If the module cannot be graded but there are new answers, they are taken and the earlier module
    stays.
    """
    sent, notes = _laid_out(course, week, incoming)
    sent = _without_stub(week, sent, earlier, released_file(course, week, week.module))
    merged = _merged(course, week, earlier, sent, notes)
    answered = any(p.kind == "answer" and p.fate in ("new", "replaced") for p in merged.parts)
    if not merged.problem or not answered or week.module not in earlier:
        return merged
    rest = {n: d for n, d in sent.items() if n.endswith(".ipynb") or n in FROM_NBGRADER}
    answers = _merged(course, week, earlier, rest, [Note("refused", merged.problem)])
    if answers.problem:
        return merged
    module, *others = answers.parts
    refused = msgspec.structs.replace(module, fate="refused")
    return msgspec.structs.replace(answers, parts=(refused, *others))


def _merged(
    course: Course, week: Week, earlier: Files, sent: dict[str, bytes], notes: list[Note]
) -> Merged:
    files = _with_kept_files(week, sent, earlier)
    notebook = _merge_notebooks(course, week, sent, earlier)
    files = {n: d for n, d in files.items() if n not in notebook.taken} | notebook.files
    parts = (
        _part("module", week.module, sent, earlier),
        *notebook.answers,
        *_file_parts(course, week, files, sent, earlier),
    )
    problem = _problem(course, week, files, sent, earlier, notebook.answers)
    return Merged(files, parts, problem, (*notes, *notebook.notes, *_kept_note(parts)))


def _laid_out(course: Course, week: Week, incoming: Files) -> tuple[dict[str, bytes], list[Note]]:
    """Return the files relative to the folder of the module, or of the notebook without one."""
    bound = course.limits(week).submission_mib << 20
    own = {name: data for name, data in incoming.items() if _is_students(name)}
    named, notes = with_module(own, week)
    zips = [name for name in named if name.lower().endswith(".zip")]
    if len(zips) == 1 and not _places(named, week.module):
        inside, _ = content_of({zips[0]: named[zips[0]]}, week, bound)
        own = {n: d for n, d in named.items() if n != zips[0]}
        own |= {n: d for n, d in inside.items() if _is_students(n)}
        named, notes = with_module(own, week)
    places = _places(named, week.module) or _places(named, f"{week.name}.ipynb")
    if not places or (len(places) > 1 and len(places[0].parts) == len(places[1].parts)):
        return named, list(notes)  # the intake explains the problem
    root = places[0]
    pairs = [(PurePosixPath(name), data) for name, data in named.items()]
    below = {p.relative_to(root).as_posix(): d for p, d in pairs if p.is_relative_to(root)}
    return below, list(notes)


def _is_students(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return (
        name not in ("timestamp.txt", REQUEST)
        and IGNORED_FOLDERS.isdisjoint(parts)
        and not any(part.startswith(".") for part in parts)
    )


def _places(files: Files, name: str) -> list[PurePosixPath]:
    """Return the folders that hold a file of this name, the outermost first."""
    found = (PurePosixPath(n).parent for n in files if PurePosixPath(n).name == name)
    return sorted(found, key=lambda p: (len(p.parts), str(p)))


def _without_stub(
    week: Week, sent: dict[str, bytes], earlier: Files, stub: bytes
) -> dict[str, bytes]:
    """Drop an unchanged stub if there is another version of the module."""
    module = sent.get(week.module)
    if module is None or not stub or module.split() != stub.split():
        return sent
    rest = {name: data for name, data in sent.items() if name != week.module}
    renamed, _ = with_module(rest, week)
    if week.module in renamed:
        return renamed
    return rest if earlier.get(week.module, stub).split() != stub.split() else sent


def _with_kept_files(week: Week, sent: Files, earlier: Files) -> dict[str, bytes]:
    """Return the sent files with those of the earlier submission that they do not replace.

    Files next to the module are kept if the module is not sent, or sent without other files. A
    complete folder replaces the earlier one, because students may delete files on purpose.
    """
    kept = {n: d for n, d in earlier.items() if _is_students(n) and not n.endswith(UNREADABLE)}
    alone = all(n == week.module or n.endswith(".ipynb") or n in FROM_NBGRADER for n in sent)
    if week.module in sent and not alone:
        kept = {n: d for n, d in kept.items() if n in FROM_NBGRADER}
    kept.pop(f"{week.name}.ipynb", None)
    return kept | dict(sent)


class _Notebook(NamedTuple):
    """The merged notebook."""

    files: dict[str, bytes]  # the notebook, and a damaged one under a different name
    taken: set[str]  # the names under which it arrived
    answers: list[SubmittedPart]
    notes: list[Note]


def _merge_notebooks(course: Course, week: Week, sent: Files, earlier: Files) -> _Notebook:
    """Return the notebook that was sent, with the earlier answers that it lacks."""
    name = f"{week.name}.ipynb"
    before, (taken, now) = _parsed(earlier.get(name)), _own_notebook(week, sent)
    released = _answers(week, _parsed(released_file(course, week, name)))
    old, new = (_written(_answers(week, one), released) for one in (before, now))
    answers = [
        SubmittedPart("answer", q.name, _fate(new.get(q.name), old.get(q.name)))
        for q in week.questions
    ]
    kept = [part.name for part in answers if part.fate == "kept"]
    merged = _Notebook({}, {name, taken}, answers, [])
    if name in sent and taken != name:
        merged.files[f"{name}{UNREADABLE}"] = sent[name]
        merged.notes.append(_UNREADABLE_NOTE)
    if now is not None:
        whole = text_in(sent[taken], taken).encode()
        merged.files[name] = _with_answers(now, before, kept) if kept else whole
        merged.notes[:] = [_RENAMED_NOTE] if taken != name else []
    elif before is not None:
        merged.files[name] = earlier[name]
    return merged


_RENAMED_NOTE = Note(
    "renamed",
    "Your notebook had a different name. It was accepted; next time, keep the name it had when you "
    "downloaded it.",
)
_UNREADABLE_NOTE = Note(
    "unreadable",
    "Your notebook could not be read. Open it in JupyterLab, check that it is complete, delete "
    "large outputs, and submit it again.",
)


def _own_notebook(week: Week, sent: Files) -> tuple[str, Any]:
    """Return the name and the content of the notebook that was sent; "" and None without one."""
    name = f"{week.name}.ipynb"
    if (found := _parsed(sent.get(name))) is not None:
        return name, found
    others = [n for n in sorted(sent) if n.endswith(".ipynb") and "/" not in n and n != name]
    readable = [(n, found) for n in others if (found := _parsed(sent[n])) is not None]
    return readable[0] if len(readable) == 1 else ("", None)


def _parsed(data: bytes | None) -> Any:
    """Return a notebook of nbformat 4, or None if it cannot be read."""
    if data is None:
        return None
    try:
        return parse_notebook(text_in(data, "the notebook"))
    except Exception:  # nbformat raises many kinds of errors for damaged files
        return None


def _cells(notebook: Any) -> dict[str, Any]:
    """Return the first cell of each grade id."""
    found: dict[str, Any] = {}
    for cell in notebook.cells if notebook is not None else ():
        about = cell.metadata.get("nbgrader")
        if isinstance(about, dict) and isinstance(about.get("grade_id"), str):
            found.setdefault(about["grade_id"], cell)
    return found


def _answers(week: Week, notebook: Any) -> _Answers:
    """Return each answer's text and pictures."""
    cells = _cells(notebook)
    names = [q.name for q in week.questions if q.name in cells]
    return {n: (str(cells[n].source), _pictures(cells[n])) for n in names}


def _pictures(cell: Any) -> dict[str, Any]:
    """Return the attachments that are pictures: others are removed for grading."""
    attached = cell.get("attachments")
    return {
        name: bundle
        for name, bundle in (attached.items() if isinstance(attached, dict) else ())
        if isinstance(bundle, dict) and not bundle.keys().isdisjoint(PICTURES)
    }


def _written(answers: _Answers, released: _Answers) -> _Answers:
    """Return the answers that differ from the released ones."""
    from ...authoring.lesson.lesson_notebook import ANSWER  # imports nbformat, which takes a second

    empty = {"", ANSWER}
    return {
        name: (text, pictures)
        for name, (text, pictures) in answers.items()
        if pictures or text.strip() not in empty | {released.get(name, ("",))[0].strip()}
    }


def _with_answers(now: Any, before: Any, names: list[str]) -> bytes:
    """Return the notebook with these answers from the earlier one."""
    import nbformat

    own, old = _cells(now), _cells(before)
    for name in names:
        if name not in own:
            now.cells.insert(min(len(now.cells), _LAST_CELL), copy.deepcopy(old[name]))
            continue
        own[name]["source"] = old[name]["source"]
        if old[name].get("attachments"):
            own[name]["attachments"] = copy.deepcopy(old[name]["attachments"])
    return str(nbformat.writes(now)).encode()


def _fate(now: object, before: object) -> Literal["new", "replaced", "same", "kept", "missing"]:
    if now is None:
        return "missing" if before is None else "kept"
    if before is None:
        return "new"
    return "same" if now == before else "replaced"


def _part(kind: Literal["module", "file"], name: str, sent: Files, earlier: Files) -> SubmittedPart:
    return SubmittedPart(kind, name, _fate(sent.get(name), earlier.get(name)))


def _file_parts(
    course: Course, week: Week, files: Files, sent: Files, earlier: Files
) -> list[SubmittedPart]:
    """Return the files that are graded and were not released."""
    return [
        _part("file", name, sent, earlier)
        for name in sorted(files)
        if name != week.module
        and name not in FROM_NBGRADER
        and is_wanted(PurePosixPath(name).name)
        and not released_file(course, week, name)
    ]


def _problem(
    course: Course,
    week: Week,
    files: Files,
    sent: Files,
    earlier: Files,
    answers: list[SubmittedPart],
) -> str:
    """Return why a merged submission cannot be graded, or ""."""
    if week.module not in sent and len(several := module_candidates(sent, week)) > 1:
        names = " and ".join(clean_name(name) for name in several[:3])
        return f"{names} could each be your {week.module}. Submit one of them as {week.module}."
    read = read_files(files, week, course.limits(week), "submission")
    if read.problem and not _places(files, week.module):
        from_notebook = course.registry.modules_from_notebook and f"{week.name}.ipynb" in files
        arrives = any(part.fate in ("new", "replaced") for part in answers)
        return "" if from_notebook or arrives else read.problem
    if read.problem or week.module not in sent or week.module not in earlier:
        return read.problem
    error = _syntax_error(sent[week.module])
    if error is None or _syntax_error(earlier[week.module]) is not None:
        return ""
    place = error.lineno or 0, error.offset or 0
    failure = ImportFailure(type(error).__name__, error.msg, "", *place)
    source = sent[week.module].decode("utf-8-sig", "replace")
    return explained(week.module, failure, {week.module: source}).partition("\n")[0]


def _syntax_error(source: bytes) -> SyntaxError | None:
    try:
        ast.parse(source)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None  # the grader reports it
    return None


def _kept_note(parts: tuple[SubmittedPart, ...]) -> list[Note]:
    kept = [f"`{part.name}`" for part in parts if part.fate == "kept"]
    if not kept:
        return []
    text = "Kept from your earlier submission, because this one does not change them: "
    return [Note("kept", f"{text}{', '.join(kept)}.")]


def released_file(course: Course, week: Week, name: str) -> bytes:
    """Return the content of a released file; empty if there is none."""
    try:
        return (Workspace(course).released(week) / name).read_bytes()
    except OSError:
        return b""
