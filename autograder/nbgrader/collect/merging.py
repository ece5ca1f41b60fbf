"""Merge a submission with the student's earlier submission, so that no part is lost.

The parts of a submission are the module, each written answer, and other files that the module
needs. If a part is missing or unchanged since the release, the part from the student's earlier
submission is kept. All channels use `merge`, so the same rules apply to every channel.

The files are not trusted. Notebooks are parsed within limits and never run, the module is parsed
but never imported, and files whose names begin with a dot are dropped.
"""

import ast
import copy
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Literal

import msgspec

from ...batch.intake import IGNORED_FOLDERS, clean_name, collision, is_wanted, read_files
from ...batch.module_name import files_in, folders_with, module_candidates, with_module
from ...lms.bulk import content_of
from ...model.course import Course, Week
from ...model.source.import_failure import ImportFailure, explained
from ...model.submission_files import FROM_NBGRADER, TIMESTAMP_FILE, Files, Note
from ..regrade.regrade_log import REQUEST
from ..workspace import Workspace
from .history import UNREADABLE, SubmittedPart
from .notebooks import first_cells, parse_notebook, pictures_of, text_in

_Answers = dict[str, tuple[str, Any]]  # question -> (text, pictures)
_NOTEBOOKS = (".ipynb", UNREADABLE)


class Merged(msgspec.Struct, frozen=True):
    """A merged submission, ready for grading. Merging its files again has no effect."""

    files: dict[str, bytes]
    parts: tuple[SubmittedPart, ...]  # module, answers in the week's order, other files
    problem: str = ""  # why the submission cannot be graded, or ""
    notes: tuple[Note, ...] = ()

    @property
    def unchanged(self) -> bool:
        """Return True if no part is new or differs from the earlier submission."""
        return all(p.fate not in ("new", "replaced") for p in self.parts)


def merge(course: Course, week: Week, earlier: Files, incoming: Files) -> Merged:
    """Merge incoming files with the files of the student's earlier submission.

    If the module cannot be graded but the notebook has new answers, accept the answers and keep the
    earlier module.

    earlier, incoming: content of the files by name; `earlier` is empty for a first submission
    """
    sent, notes = _laid_out(course, week, incoming)
    sent = _without_stub(week, sent, earlier, Workspace(course).released_file(week, week.module))
    sent, more = _with_notebook(week, sent)
    merged = _merged(course, week, earlier, sent, [*notes, *more])
    answered = any(p.kind == "answer" and p.fate in ("new", "replaced") for p in merged.parts)
    if not merged.problem or not answered or week.module not in earlier:
        return merged
    rest = {n: d for n, d in sent.items() if n.endswith(_NOTEBOOKS) or n in FROM_NBGRADER}
    answers = _merged(course, week, earlier, rest, [Note("refused", merged.problem)])
    if answers.problem:
        return merged
    module, *others = answers.parts
    refused = msgspec.structs.replace(module, fate="refused")
    return msgspec.structs.replace(answers, parts=(refused, *others))


def _merged(
    course: Course, week: Week, earlier: Files, sent: dict[str, bytes], notes: list[Note]
) -> Merged:
    name = f"{week.name}.ipynb"
    now, before = _parsed(sent, name), _parsed(earlier, name)
    handout = parse_notebook(Workspace(course).released_file(week, name))
    originals = first_cells(handout.cells if handout else ())
    released = _answers(week, handout, originals)
    new, old = (_written(_answers(week, n, originals), released) for n in (now, before))
    answers = [_part("answer", q.name, new, old) for q in week.questions]
    kept = [part.name for part in answers if part.fate == "kept"]
    files = _with_kept_files(week, sent, earlier)
    if now is not None:
        whole = text_in(sent[name], name).encode()
        files[name] = _with_answers(now, before, kept, originals) if kept else whole
    elif before is not None:
        files[name] = earlier[name]
    parts = (
        _part("module", week.module, sent, earlier),
        *answers,
        *(_part("file", n, sent, earlier) for n in sorted(files) if _is_part(course, week, n)),
    )
    answered = any(part.fate in ("new", "replaced") for part in answers)
    clash = collision(sorted(files))
    problem = clash or _problem(course, week, files, sent, earlier, answered=answered)
    if kept_parts := ", ".join(f"`{part.name}`" for part in parts if part.fate == "kept"):
        text = "Kept from your earlier submission, because this one does not change them"
        notes = [*notes, Note("kept", f"{text}: {kept_parts}.")]
    return Merged(dict(earlier) if clash else files, parts, problem, tuple(notes))


def _laid_out(course: Course, week: Week, incoming: Files) -> tuple[dict[str, bytes], list[Note]]:
    """Unpack a zip, and make names relative to the folder that contains the module or notebook.

    Return the files, and notes if the module was renamed or converted.
    """
    bound = course.limits(week).submission_mib << 20
    own = {name: data for name, data in incoming.items() if is_students_file(name)}
    named, notes = with_module(own, week)
    zips = [name for name in named if name.lower().endswith(".zip")]
    if len(zips) == 1 and not folders_with(named, week.module):
        inside, _ = content_of({zips[0]: named[zips[0]]}, week, bound)
        own = {n: d for n, d in named.items() if n != zips[0]}
        own |= {n: d for n, d in inside.items() if is_students_file(n)}
        named, notes = with_module(own, week)
    places = folders_with(named, week.module) or folders_with(named, f"{week.name}.ipynb")
    if not places or (len(places) > 1 and len(places[0].parts) == len(places[1].parts)):
        return named, list(notes)  # the intake reports the problem
    return files_in(named, places[0]), list(notes)


def is_students_file(name: str) -> bool:
    """Return True if a submission may contain this file, which must have a plain relative path."""
    parts = name.split("/")
    return (
        name not in (TIMESTAMP_FILE, REQUEST)
        and IGNORED_FOLDERS.isdisjoint(parts)
        and not any(not part or part.startswith(".") for part in parts)
    )


def _without_stub(
    week: Week, sent: dict[str, bytes], earlier: Files, stub: bytes
) -> dict[str, bytes]:
    """Drop the module if it is the unchanged stub and the student's code is elsewhere.

    The code may be in a file with a different name or in the earlier submission.
    """
    module = sent.get(week.module)
    if module is None or not stub or module.split() != stub.split():
        return sent
    rest = {name: data for name, data in sent.items() if name != week.module}
    renamed, _ = with_module(rest, week)
    if week.module in renamed:
        return renamed
    return rest if earlier.get(week.module, stub).split() != stub.split() else sent


def _with_kept_files(week: Week, sent: Files, earlier: Files) -> dict[str, bytes]:
    """Add the earlier files that the new submission does not replace.

    A submission of the module together with other files counts as a complete folder and replaces
    all earlier files, because the student may have deleted files on purpose.
    """
    kept = {n: d for n, d in earlier.items() if is_students_file(n) and not n.endswith(UNREADABLE)}
    alone = all(n == week.module or n.endswith(_NOTEBOOKS) or n in FROM_NBGRADER for n in sent)
    if week.module in sent and not alone:
        kept = {n: d for n, d in kept.items() if n in FROM_NBGRADER}
    kept.pop(f"{week.name}.ipynb", None)
    return kept | dict(sent)


def _with_notebook(week: Week, sent: dict[str, bytes]) -> tuple[dict[str, bytes], list[Note]]:
    """Rename the student's notebook to the released name, and move a damaged notebook aside.

    Return the files, and a note for the student if a notebook was renamed or moved.
    """
    name = f"{week.name}.ipynb"
    others = [n for n in sorted(sent) if n.endswith(".ipynb") and "/" not in n and n != name]
    if _parsed(sent, name) is not None or not (name in sent or others):
        return sent, []
    files, notes = dict(sent), list[Note]()
    if name in files:
        files[f"{name}{UNREADABLE}"] = files.pop(name)
        notes = [_UNREADABLE_NOTE]
    readable = [n for n in others if _parsed(sent, n) is not None]
    if len(readable) == 1:
        files[name] = files.pop(readable[0])
        notes = [_RENAMED_NOTE]
    return files, notes


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


def _parsed(files: Files, name: str) -> Any:
    return parse_notebook(files[name]) if name in files else None


def _answers(week: Week, notebook: Any, originals: Mapping[str, Any]) -> _Answers:
    cells = first_cells(notebook.cells if notebook else (), originals)
    names = [q.name for q in week.questions if q.name in cells]
    return {n: (str(cells[n].source), pictures_of(cells[n])) for n in names}


def _written(answers: _Answers, released: _Answers) -> _Answers:
    from ...authoring.lesson.handout import ANSWER  # importing nbformat takes a second

    empty = {"", ANSWER}
    return {
        name: (text, pictures)
        for name, (text, pictures) in answers.items()
        if pictures or text.strip() not in empty | {released.get(name, ("",))[0].strip()}
    }


def _with_answers(now: Any, before: Any, names: list[str], originals: Mapping[str, Any]) -> bytes:
    """Copy the answers in `names` from notebook `before` to `now`, and return `now` as JSON."""
    import nbformat

    own, old = (first_cells(notebook.cells, originals) for notebook in (now, before))
    for name in names:
        if name not in own:
            now.cells.append(copy.deepcopy(old[name]))
            continue
        own[name]["source"] = old[name]["source"]
        if old[name].get("attachments"):
            own[name]["attachments"] = copy.deepcopy(old[name]["attachments"])
    return str(nbformat.writes(now)).encode()


def _part(
    kind: Literal["module", "answer", "file"],
    name: str,
    sent: Mapping[str, object],
    earlier: Mapping[str, object],
) -> SubmittedPart:
    fate: Literal["new", "replaced", "same", "kept", "missing"]
    if name not in sent:
        fate = "kept" if name in earlier else "missing"
    elif name not in earlier:
        fate = "new"
    else:
        fate = "same" if sent[name] == earlier[name] else "replaced"
    return SubmittedPart(kind, name, fate)


def _is_part(course: Course, week: Week, name: str) -> bool:
    """Return True if the file is the student's own and is graded along with the module."""
    return (
        name != week.module
        and name not in FROM_NBGRADER
        and is_wanted(PurePosixPath(name).name)
        and not Workspace(course).released_file(week, name)
    )


def _problem(
    course: Course, week: Week, files: Files, sent: Files, earlier: Files, *, answered: bool
) -> str:
    """Return the reason why a merged submission cannot be graded, or "" if it can be graded.

    answered: True if the submission has new answers, so that a module is not required
    """
    if week.module not in sent and len(several := module_candidates(sent, week)) > 1:
        names = " and ".join(clean_name(name) for name in several[:3])
        return f"{names} could each be your {week.module}. Submit one of them as {week.module}."
    read = read_files(files, week, course.limits(week), "submission")
    if read.problem and not folders_with(files, week.module):
        return "" if answered else read.problem
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
        return None  # the grader reports this problem
    return None
