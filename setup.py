"""What pyproject.toml cannot say about the wheel: it holds what students need, by name.

The wheel is what students install: the commands of students, and the modules that these import.
Everything else of the kit is the instructor's. A test computes the list and holds it against this
one, so a module enters the wheel because somebody wrote its name here.
"""

from setuptools import setup
from setuptools.command.build_py import build_py

MODULES = {
    "autograder",
    "autograder.__main__",
    "autograder.cli",
    "autograder.cli.app",
    "autograder.cli.student",
    "autograder.model",
    "autograder.model.course",
    "autograder.model.errors",
    "autograder.model.extras",
    "autograder.model.folders",
    "autograder.model.importfailure",
    "autograder.model.mistakes",
    "autograder.model.ownpytest",
    "autograder.model.parcel",
    "autograder.model.quoting",
    "autograder.model.reading",
    "autograder.model.registry",
    "autograder.model.rules",
    "autograder.model.sources",
    "autograder.model.statements",
    "autograder.model.stubs",
    "autograder.model.uses",
    "autograder.model.visible",
    "autograder.pages",
    "autograder.pages.environment",
    "autograder.repair",
    "autograder.repair.alike",
    "autograder.repair.arithmetic",
    "autograder.repair.axes",
    "autograder.repair.changes",
    "autograder.repair.code",
    "autograder.repair.exchanges",
    "autograder.repair.finding",
    "autograder.repair.idioms",
    "autograder.repair.missing",
    "autograder.repair.moving",
    "autograder.repair.naming",
    "autograder.repair.numbers",
    "autograder.repair.operators",
    "autograder.repair.overlooked",
    "autograder.repair.reading",
    "autograder.repair.statements",
    "autograder.repair.together",
    "autograder.repair.words",
    "autograder.repair.wrapping",
    "autograder.student",
    "autograder.student.allowed",
    "autograder.student.checking",
    "autograder.student.commands",
    "autograder.student.contrast",
    "autograder.student.explain",
    "autograder.student.explore",
    "autograder.student.handin",
    "autograder.student.hints",
    "autograder.student.imported",
    "autograder.student.keys",
    "autograder.student.late",
    "autograder.student.lessons",
    "autograder.student.limited",
    "autograder.student.lines",
    "autograder.student.notebook",
    "autograder.student.notice",
    "autograder.student.orders",
    "autograder.student.page",
    "autograder.student.progress",
    "autograder.student.reset",
    "autograder.student.results",
    "autograder.student.run",
    "autograder.student.runner",
    "autograder.student.serving",
    "autograder.student.service",
    "autograder.student.showsolution",
    "autograder.student.slips",
    "autograder.student.solution",
    "autograder.student.source",
    "autograder.student.stages",
    "autograder.student.state",
    "autograder.student.submit",
    "autograder.student.terminal",
    "autograder.student.text",
    "autograder.student.watch",
    "autograder.student.week",
    "autograder.student.words",
    "autograder.terminal",
    "autograder.terminal.console",
    "autograder.terminal.streams",
    "autograder.version",
    "autograder.worker",
    "autograder.worker.functions",
    "autograder.worker.stopped",
    "autograder.worker.names",
}


class BuildForStudents(build_py):
    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if _name(*module[:2]) in MODULES]

    def _get_data_files(self):
        return [data for data in super()._get_data_files() if data[0] in MODULES]


def _name(package, module):
    return package if module == "__init__" else f"{package}.{module}"


setup(cmdclass={"build_py": BuildForStudents})
