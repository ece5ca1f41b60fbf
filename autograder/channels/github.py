"""Export a week as a template repository for GitHub Classroom and Classroom 50.

`template/` is a git repository with the stub, lesson, public checks, hints and a workflow that runs
the checks in GitHub Actions. `classroom50/` belongs in the configuration repository of Classroom
50: an `autograder.py` that runs the same public checks and writes result.json. Both become public
(Classroom 50 publishes its bundles as a web page), so every file passes the leak check. Hidden
tests run on the instructor's machine after `collect --git`.

Contract of autograder.py and result.json: the wiki of foundation50/classroom50, "Advanced
Autograding", classroom50/result/v1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from importlib.resources import files as resources
from pathlib import Path

from ..authoring.lesson.handout import week_files
from ..authoring.lesson.leak_check import check_files, secrets_of
from ..model.course import Course, Week
from ..model.errors import KitError
from ..nbgrader.workspace import Workspace

CHECKS = ".github/workflows/checks.yml"
_IGNORED = "__pycache__/\n.ipynb_checkpoints/\n.pytest_cache/\n.autograder-student.json\nkept/\n"
_NEEDED = ("torch", "numpy", "matplotlib", "pytest")
_EXTRAS = {"keras": ("keras",), "text": ("transformers",)}
_AS = (
    *("-c", "user.name=course", "-c", "user.email=course@localhost", "-c", "commit.gpgSign=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "init.defaultBranch=main"),
)


@dataclass(frozen=True)
class ExportedTemplate:
    """The two exported folders, and whether the template changed."""

    template: Path
    bundle: Path
    changed: bool


def export_template(course: Course, week: Week, folder: Path) -> ExportedTemplate:
    """Write both folders; raise LeakError before anything is written."""
    template = template_files(course, week)
    bundle = bundle_files(course, week)
    secrets = secrets_of(course, week)
    check_files(template, secrets, f"{folder.name}/template")
    check_files(bundle, secrets, f"{folder.name}/classroom50")
    changed = _commit(folder / "template", template, f"{week.title}, as it is handed out")
    target = folder / "classroom50" / "autograders" / week.name
    shutil.rmtree(target, ignore_errors=True)
    _write(target, bundle)
    return ExportedTemplate(folder / "template", target, changed)


def template_files(course: Course, week: Week) -> dict[str, bytes]:
    """Return the students' files: the release if it exists, so that nbgrader can collect copies."""
    released = Workspace(course).released(week)
    if released.is_dir():
        files = {
            p.relative_to(released).as_posix(): p.read_bytes()
            for p in sorted(released.rglob("*"))
            if p.is_file()
        }
    else:
        files = week_files(course, week)
    checks = f"test_{week.stem}.py"
    workflow = _template("github.checks.yml", PYTHON=_python(), CHECKS=checks)
    return files | {
        CHECKS: workflow.encode(),
        ".gitignore": _IGNORED.encode(),
        "requirements.txt": _requirements(week).encode(),
    }


def bundle_files(course: Course, week: Week) -> dict[str, bytes]:
    """Return the files of `autograders/WEEK/` in a Classroom 50 configuration repository."""
    checks = f"test_{week.stem}.py"
    text = _template("classroom50.autograder.txt", TITLE=week.title, CHECKS=checks)
    return {
        "autograder.py": text.encode(),
        checks: (course.exercise_folder(week) / checks).read_bytes(),
        "requirements.txt": _requirements(week).encode(),
    }


def _requirements(week: Week) -> str:
    """Return requirements.txt with the versions that are installed here."""
    names = [*_NEEDED, *(n for extra in week.extras for n in _EXTRAS.get(extra, ()))]
    lines = []
    for name in names:
        try:
            lines.append(f"{name}=={metadata.version(name).split('+')[0]}")
        except metadata.PackageNotFoundError:
            lines.append(name)
    return "\n".join(lines) + "\n"


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _template(name: str, **words: str) -> str:
    """Return a template with its @WORDS@ replaced."""
    text = resources("autograder.channels").joinpath("templates", name).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def _commit(folder: Path, files: dict[str, bytes], message: str) -> bool:
    """Commit exactly these files; return True if the repository changed."""
    if not (folder / ".git").is_dir():
        if folder.exists() and any(folder.iterdir()):
            raise KitError(f"{folder} is not empty and not a git repository: use a different --out")
        folder.mkdir(parents=True, exist_ok=True)
        _git(folder, "init", "--quiet")
    for path in folder.iterdir():
        if path.name == ".git":
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    _write(folder, files)
    # --force adds files that .gitignore or the instructor's settings would exclude
    _git(folder, "add", "--all", "--force")
    if not _git(folder, "status", "--porcelain"):
        return False
    _git(folder, "commit", "--quiet", "--message", message)
    return True


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *_AS, *arguments], capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        raise KitError("git is not installed: apt-get install git") from None
    except subprocess.CalledProcessError as error:
        raise KitError(f"git {arguments[0]}: {error.stderr.strip()[-200:]}") from None
    return done.stdout
