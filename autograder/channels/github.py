"""Export a week as a template repository for GitHub Classroom and Classroom 50.

`template/` is a git repository with the stub, lesson, public checks, hints and a workflow that runs
the checks in GitHub Actions. `classroom50/` belongs in the configuration repository of Classroom 50
and has an `autograder.py` that runs the same public checks and writes result.json. Both folders
become public, because Classroom 50 publishes its bundles as a web page, so every file must pass the
leak check. Hidden tests run on the instructor's machine after `collect --git`.

The wiki of foundation50/classroom50 specifies autograder.py and result.json ("Advanced
Autograding", classroom50/result/v1).
"""

import sys
from importlib.resources import files as resources
from pathlib import Path

import msgspec

from ..authoring.lesson.handout import week_files
from ..authoring.lesson.leak_check import check_files, secrets_of
from ..files import read_folder, replace_folder, write_files
from ..model.availability import CPU_BUILDS
from ..model.course import Course, Week
from ..model.errors import KitError
from ..nbgrader.workspace import Workspace
from .git import run_git
from .gradescope_zip import requirements

CHECKS = ".github/workflows/checks.yml"
_GITIGNORE = "__pycache__/\n.ipynb_checkpoints/\n.pytest_cache/\n.autograder-student.json\nkept/\n"
_COMMIT_OPTIONS = (
    *("-c", "user.name=course", "-c", "user.email=course@localhost", "-c", "commit.gpgSign=false"),
    *("-c", "init.defaultBranch=main"),
)


class ExportedTemplate(msgspec.Struct, frozen=True):
    """The exported folders. `changed`: True if the template has a new commit."""

    template: Path
    bundle: Path
    changed: bool


def export_template(course: Course, week: Week, folder: Path) -> ExportedTemplate:
    """Write both folders; raise LeakError before writing if a file contains a secret."""
    template = template_files(course, week)
    bundle = bundle_files(course, week)
    secrets = secrets_of(course, week)
    check_files(template, secrets, f"{folder.name}/template")
    check_files(bundle, secrets, f"{folder.name}/classroom50")
    changed = _commit(folder / "template", template, f"{week.title}: files for students")
    target = folder / "classroom50" / "autograders" / week.name
    replace_folder(target, bundle)
    return ExportedTemplate(folder / "template", target, changed)


def template_files(course: Course, week: Week) -> dict[str, bytes]:
    """Return the workflow and the students' files, as released if the week has been released."""
    released = Workspace(course).released(week)
    files = read_folder(released) if released.is_dir() else week_files(course, week)
    python, checks = "{}.{}".format(*sys.version_info), f"test_{week.stem}.py"
    workflow = _template("github.checks.yml", PYTHON=python, CHECKS=checks)
    return files | {
        CHECKS: workflow.encode(),
        ".gitignore": _GITIGNORE.encode(),
        "requirements.txt": _requirements(week),
    }


def bundle_files(course: Course, week: Week) -> dict[str, bytes]:
    """Return the files of `autograders/WEEK/` in a Classroom 50 configuration repository.

    The public checks may read the week's files in `assets/`.
    """
    checks, assets = f"test_{week.stem}.py", course.root / "assets"
    text = _template("classroom50.autograder.txt", TITLE=week.title, CHECKS=checks)
    return {
        "autograder.py": text.encode(),
        checks: (course.exercise_folder(week) / checks).read_bytes(),
        "requirements.txt": _requirements(week),
        **{name: (assets / name).read_bytes() for name in week.files},
    }


def _requirements(week: Week) -> bytes:
    index = f"--extra-index-url {CPU_BUILDS}\n" if "torch" in week.libraries else ""
    return index.encode() + requirements(week, (*week.libraries, "pytest"))


def _template(name: str, **words: str) -> str:
    """Return the text of a template, in which each @WORD@ is replaced by its value."""
    text = resources("autograder.channels").joinpath("templates", name).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def _commit(folder: Path, files: dict[str, bytes], message: str) -> bool:
    """Commit exactly these files; return True if the repository changed."""
    git = ["-C", str(folder), *_COMMIT_OPTIONS]
    if not (folder / ".git").is_dir():
        if folder.exists() and any(folder.iterdir()):
            raise KitError(f"{folder} is not empty and not a git repository: use a different --out")
        folder.mkdir(parents=True, exist_ok=True)
        run_git(git, "init", "--quiet")
    # empty the index, so that all files are untracked and `clean` removes them
    run_git(git, "read-tree", "--empty")
    run_git(git, "clean", "-ffdxq")
    write_files(folder, files)
    # --force adds files that .gitignore or the instructor's settings would exclude
    run_git(git, "add", "--all", "--force")
    if not run_git(git, "status", "--porcelain"):
        return False
    run_git(git, "commit", "--quiet", "--message", message)
    return True
