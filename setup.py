"""Build one of two wheels: the kit, or the part of it that students install.

`gradewright` is the kit without a course: no wheel contains hidden tests or solutions. With
GRADEWRIGHT_STUDENT=1 in the environment, the wheel is `gradewright-student`, the students' commands
and the modules that these import. A test computes the imported modules and compares them with
`MODULES`, so no module enters the students' wheel unnoticed. The kit contains the students' wheel
if dist/ does, so that `release` can add it to a week.
"""

import os
from pathlib import Path, PurePath

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

MODULES = {
    "autograder",
    "autograder.__main__",
    "autograder.cli",
    "autograder.cli.app",
    "autograder.cli.student_commands",
    "autograder.files",
    "autograder.model",
    "autograder.model.course",
    "autograder.model.course.loader",
    "autograder.model.course.registry",
    "autograder.model.course.stubs",
    "autograder.model.course.validation",
    "autograder.model.errors",
    "autograder.model.availability",
    "autograder.model.pytest_options",
    "autograder.model.report",
    "autograder.model.report.findings",
    "autograder.model.report.schema",
    "autograder.model.source",
    "autograder.model.source.import_failure",
    "autograder.model.source.reachable",
    "autograder.model.source.rules",
    "autograder.model.source.statements",
    "autograder.model.source.uses",
    "autograder.model.submission_files",
    "autograder.model.message_text",
    "autograder.pages",
    "autograder.pages.environment",
    "autograder.repair",
    "autograder.repair.candidates",
    "autograder.repair.function_scope",
    "autograder.repair.operators",
    "autograder.repair.operators.axes",
    "autograder.repair.operators.control_flow",
    "autograder.repair.operators.expressions",
    "autograder.repair.operators.library_calls",
    "autograder.repair.source_text",
    "autograder.student",
    "autograder.student.checks",
    "autograder.student.checks.explain",
    "autograder.student.checks.forbidden_calls",
    "autograder.student.checks.launcher",
    "autograder.student.checks.check_results",
    "autograder.student.checks.runner",
    "autograder.student.checks.stages",
    "autograder.student.commands",
    "autograder.student.commands.check",
    "autograder.student.commands.service_client",
    "autograder.student.commands.submit",
    "autograder.student.folder",
    "autograder.student.folder.lessons",
    "autograder.student.folder.packing",
    "autograder.student.folder.slips",
    "autograder.student.folder.source",
    "autograder.student.folder.week",
    "autograder.student.show",
    "autograder.student.show.check_text",
    "autograder.student.show.notebook_output",
    "autograder.student.show.solution",
    "autograder.student.show.verdict_json",
    "autograder.student.show.wording",
    "autograder.terminal",
    "autograder.terminal.console",
    "autograder.terminal.streams",
    "autograder.version",
    "autograder.worker",
    "autograder.worker.monitor",
    "autograder.worker.monitor.function_hooks",
    "autograder.worker.protocol",
    "autograder.worker.protocol.dtypes",
    "autograder.worker.stop_location",
}


class StudentDistribution(Distribution):
    """The project's metadata with the name of the students' wheel."""

    def parse_config_files(self, *args, **kwargs):
        super().parse_config_files(*args, **kwargs)
        self.metadata.name = "gradewright-student"


class BuildForStudents(build_py):
    """Select the students' modules, and the data files of packages that contain them."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if _name(*module[:2]) in MODULES]

    def _get_data_files(self):
        return [
            (package, source, build, [name for name in names if _owner(package, name) in MODULES])
            for package, source, build, names in super()._get_data_files()
            if package in MODULES
        ]


class BuildKit(build_py):
    """Build all modules, and add the students' wheel from dist/."""

    def run(self):
        super().run()
        wheel = f"gradewright_student-{self.distribution.get_version()}-py3-none-any.whl"
        if not self.editable_mode and Path("dist", wheel).is_file():
            target = Path(self.build_lib, "autograder", "authoring", "lesson", wheel)
            self.copy_file(f"dist/{wheel}", str(target))


def _name(package, module):
    return package if module == "__init__" else f"{package}.{module}"


def _owner(package, name):
    """Return the package that contains a data file, whose name is relative to `package`."""
    folders = PurePath(name).parent.parts
    return ".".join([package, *(f for f in folders if f != "templates")])


if os.environ.get("GRADEWRIGHT_STUDENT"):
    setup(cmdclass={"build_py": BuildForStudents}, distclass=StudentDistribution)
else:
    setup(cmdclass={"build_py": BuildKit})
