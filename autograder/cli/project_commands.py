"""Register the commands of the course's project, which a student's wheel does not contain."""

from collections.abc import Callable

from .app import AUTHORS, INSTRUCTORS, STUDENTS, app
from .author.try_file import try_
from .author.weeks import build, new, verify
from .instructor.assignments import collect, release
from .instructor.class_report import report
from .instructor.demo_week import demo
from .instructor.gradebook_files import export, marks, roster
from .instructor.grading import feedback, grade
from .instructor.overview import doctor, status
from .instructor.pushing import push, site, teach
from .instructor.regrading import regrade, requests, restore
from .instructor.serving import serve
from .learning import learn

# in the order of `autograder --help`
_COMMANDS: dict[str, tuple[Callable[..., object], ...]] = {
    STUDENTS: (learn,),
    INSTRUCTORS: (
        *(doctor, release, collect, grade, feedback, report, export, roster, demo),
        *(status, regrade, restore, marks, requests, push, site, teach, serve),
    ),
    AUTHORS: (build, verify, try_, new),
}

for panel, commands in _COMMANDS.items():
    for command in commands:
        app.command(command.__name__.rstrip("_"), rich_help_panel=panel)(command)
