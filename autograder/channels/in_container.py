"""Grade one submission in a Gradescope container: `python -m autograder.channels.in_container`.

Theory of operation. Gradescope starts a Docker container without namespaces for each submission,
and this program runs as root. The submission is untrusted. It runs only in a sandbox that passed a
trial in this container. Before the submission runs, hidden tests and results become readable by
root only. If no sandbox works or the kit fails, no results are written and the exit code is not 0.
Gradescope then reports that the autograder failed, and assigns no score.
"""

import json
import os
import stat
import sys
from pathlib import Path

import msgspec

from ..batch.grade import grade_batch
from ..batch.intake import read_submission
from ..files import replace_file
from ..model.availability import axis
from ..model.course import load
from ..model.errors import KitError
from ..model.message_text import replaced
from ..sandbox import choose
from .gradescope_zip import SETTINGS, GradescopeSettings, results


def main(base: Path = Path("/autograder")) -> int:
    """Grade the folder `submission`, write `results/results.json`, and return the exit code."""
    try:
        _hide_secrets(base)
        course = load(base / "source", unfinished=True)
        data = (base / "source" / SETTINGS).read_bytes()
        settings = msgspec.json.decode(data, type=GradescopeSettings)
        week = course.week(settings.week)
        submission = read_submission(base / "submission", week, course.limits(week), "submission")
        sandbox = choose().name
        print(f"sandbox: {sandbox}")
        batch = grade_batch(course, week, [submission], devices=axis(), jobs=1, sandbox=sandbox)
        (report,) = batch.submissions
        found = results(report, week, settings)
    except (KitError, OSError, msgspec.MsgspecError) as error:
        print(f"not graded because of a system error: {replaced(str(error))}")
        return 2
    target = base / "results"
    target.mkdir(mode=0o700, exist_ok=True)
    replace_file(target / "results.json", json.dumps(found, ensure_ascii=True).encode())
    print(f"graded in the sandbox {sandbox}: {found['score']:g} of {report.max_score:g}")
    for attempt in report.attempts:  # students do not see this output
        print(f"LOOK  {replaced(attempt)}")
    for failed in report.unexplained:
        print(f"UNEXPLAINED  {replaced(failed)}")
    return 0


def _hide_secrets(base: Path) -> None:
    """Make `source` and `results` readable by root only; raise KitError if that is impossible.

    Symbolic links are skipped, because chmod would change their targets.
    """
    for name in ("source", "results"):
        folder = base / name
        folder.mkdir(exist_ok=True)
        folder.chmod(0o700)
        for place, folders, files in os.walk(folder):
            for entry in (*folders, *files):
                path = Path(place, entry)
                if not path.is_symlink():
                    path.chmod(stat.S_IMODE(path.lstat().st_mode) & 0o700)
        if folder.stat().st_mode & 0o077 or folder.stat().st_uid != os.geteuid():
            raise KitError(f"{folder} is readable by other users: refusing to grade here")
    about = base / "submission_metadata.json"
    if about.is_file():
        about.chmod(0o600)


if __name__ == "__main__":
    sys.exit(main())
