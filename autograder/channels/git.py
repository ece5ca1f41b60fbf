"""Collect submissions from students' git repositories as of the due date.

Theory of operation. Everything in a repository is untrusted: objects, names, attributes,
submodules, links and, for a local clone, its configuration. The repository is cloned into a bare
repository through upload-pack, which git declares safe for untrusted repositories. Without a
working tree, no hook, filter or attribute takes effect. Only regular files with plain names are
read, within the size limits of the intake, which checks the files again for grading. The size of
git's output is limited, because a few small trees can list billions of files. The size of the files
that git writes is limited as well. An error in one repository does not stop the collection.

Commit dates cannot be trusted, because students set them on their own machines. Dates that decrease
along the history are reported.
"""

import datetime as dt
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from ..lms.bulk import Accept, Found, Read, content_from
from ..lms.csv_tables import read_rows
from ..model.course import Course, Week
from ..model.course.late import due_for
from ..model.errors import KitError
from ..model.submission_files import format_timestamp

_TIMEOUT_SECONDS = 300
_MAX_OUTPUT = 16 << 20  # bytes of git's output
_MAX_WRITTEN = 1 << 30  # bytes of each file that git writes, such as a pack of all objects
_CLOCK_SKEW_SECONDS = 3600
_SAFE_OPTIONS = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.symlinks=false"),
    *("-c", "protocol.ext.allow=never", "-c", "submodule.recurse=false"),
    *("-c", "safe.directory=*"),
)


def read_repositories(roster: Path, pattern: str | None) -> dict[str, str]:
    """Return the URL or folder of each student's repository, as listed in a class list.

    The list has a column `repository`, or a column with GitHub user names (`username` from
    Classroom 50, `github_username` from GitHub Classroom), which replace {username} in `pattern`.
    The column `student` or `identifier` has the gradebook name, which defaults to the user name.
    Raise KitError if the list is malformed or lists no repository.
    """
    found = {}
    for row in read_rows(roster):
        login = next((row[n] for n in ("username", "github_username", "login") if row.get(n)), "")
        student = next((row[n] for n in ("student", "identifier") if row.get(n)), login)
        filled = (pattern or "").replace("{username}", login or student)
        location = row.get("repository") or filled.replace("{student}", student)
        if "/" in student or student.startswith((".", "-")):
            raise KitError(f"{roster}: {student!r} is not a valid student name: fix that row")
        if student and location:
            found[student] = location
    if not found:
        raise KitError(
            f"{roster} needs a column `repository`, or a column `username`, `github_username` or "
            "`student` and the pattern of the URLs, for example "
            "--repositories 'https://github.com/ORG/week01-{username}.git'"
        )
    return found


def collect_git(
    course: Course,
    week: Week,
    repositories: Mapping[str, str],
    accept: Accept,
    *,
    newest: bool = False,
    extended: Mapping[str, dt.timedelta] | None = None,
    on_done: Callable[[], None] = lambda: None,
) -> Found:
    """Collect each student's last commit before the due date.

    repositories: a URL or folder by student
    accept: called with the student, the files and the time of the commit
    newest: ignore the due date. extended: extensions of the due date, by student
    on_done: called after each repository
    """
    found = Found()
    for student, location in repositories.items():
        more = (extended or {}).get(student, dt.timedelta())
        until = None if newest else due_for(course, week, student, more)
        try:
            with tempfile.TemporaryDirectory(prefix="collecting-") as folder:
                taken = _read_last_commit(course, week, location, Path(folder) / "bare", until)
            if taken is None:
                found.missing.append(student)
            else:
                files, date, notes = taken
                found.problems += [f"{student}: {note}" for note in notes]
                found.problems += accept(student, files, format_timestamp(date))
                found.collected.append(student)
        except KitError as error:
            found.problems.append(f"{student}: {error}")
        except (OSError, ValueError, OverflowError) as error:  # an invalid date, name or size
            found.problems.append(f"{student}: {location}: cannot be read: {error}")
        on_done()
    if found.collected:
        found.facts.append("submission times are commit times, which students' machines set")
    return found


def _read_last_commit(
    course: Course, week: Week, location: str, bare: Path, until: dt.datetime | None
) -> tuple[dict[str, bytes], dt.datetime, list[str]] | None:
    """Return the files and the date of the last commit, and notes; None if there is no commit."""
    _clone(location, bare)
    commit = _last_commit(bare, until)
    if commit is None:
        return None
    shown = _git(bare, "log", "--first-parent", "--format=%ct", commit, "--")
    times = [int(seconds) for seconds in shown.splitlines()]  # newest first
    bound = course.limits(week).submission_mib << 20
    content, notes = content_from(dict(_files(bare, commit)), week, bound)
    if any(older - newer > _CLOCK_SKEW_SECONDS for newer, older in pairwise(times)):
        notes.append("commit dates decrease along the history")
    return content, dt.datetime.fromtimestamp(times[0], dt.UTC), notes


def _clone(location: str, bare: Path) -> None:
    """Clone into a bare repository, using git's transport even for local folders."""
    source = location
    host, colon, _ = location.partition(":")
    is_ssh = colon and "@" in host and "/" not in host
    if "://" not in location and not is_ssh:
        path = Path(location).expanduser()
        if not path.exists():
            raise KitError(f"{location}: folder not found")
        source = path.resolve().as_uri()
    if source.startswith("-"):
        raise KitError(f"{location!r} is not a repository")
    arguments = ("--quiet", "--bare", "--no-tags", "--", source, str(bare))
    run_git([], "clone", *arguments, max_bytes=_MAX_WRITTEN)


def _git(bare: Path, command: str, *arguments: str, max_bytes: int = _MAX_OUTPUT) -> bytes:
    return run_git(["--git-dir", str(bare)], command, *arguments, max_bytes=max_bytes)


def _last_commit(bare: Path, until: dt.datetime | None) -> str | None:
    if not _git(bare, "for-each-ref", "refs/heads").strip():
        return None
    before = [] if until is None else [f"--before={int(until.timestamp())}"]
    return _git(bare, "rev-list", "--max-count=1", *before, "HEAD", "--").decode().strip() or None


def _files(bare: Path, commit: str) -> Iterator[tuple[str, Read]]:
    """Yield the name and reader of each regular file of a commit, except hidden files."""
    listed = _git(bare, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    for entry in listed.split(b"\0"):
        about, _, name = entry.partition(b"\t")
        fields, parts = about.split(), name.split(b"/")
        if any(part.startswith(b".") for part in parts):
            continue  # such as the template's workflow, .gitignore and editor files
        if len(fields) == 4 and fields[0] in (b"100644", b"100755"):
            read = partial(_read_blob, bare, fields[2].decode(), int(fields[3]))
            yield name.decode("utf-8", "replace"), read


def _read_blob(bare: Path, blob: str, size: int, bound: int) -> bytes | None:
    if size > bound:
        return None
    return _git(bare, "cat-file", "blob", blob, max_bytes=max(size, _MAX_OUTPUT))


def run_git(
    repository: Sequence[str], command: str, *arguments: str, max_bytes: int = _MAX_WRITTEN
) -> bytes:
    """Run a git command and return its output; raise KitError if it fails or takes too long.

    repository: git options that select the repository
    max_bytes: limit on the output and on each file that git writes
    """
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_NO_LAZY_FETCH": "1"}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                ["git", *_SAFE_OPTIONS, *repository, command, *arguments],
                env={**os.environ, **quiet},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,  # so that a timeout also kills git's helper processes
                preexec_fn=partial(_limit_file_size, max_bytes),
            )
        except FileNotFoundError:
            raise KitError("git is not installed: apt-get install git") from None
        try:
            code = process.wait(_TIMEOUT_SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise KitError(f"git {command} took longer than {_TIMEOUT_SECONDS} s") from None
            raise
        if code == -signal.SIGXFSZ:
            raise KitError(f"git {command}: the repository is too large")
        if code:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4096))
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise KitError(f"git {command}: {lines[-1][:200] if lines else 'failed'}")
        output.seek(0)
        return output.read()


def _limit_file_size(max_bytes: int) -> None:
    """Limit the size of written files. Runs in the child process before git starts."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    if hard != resource.RLIM_INFINITY:
        max_bytes = min(hard, max_bytes)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, hard))
