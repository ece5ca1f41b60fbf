"""Choose the modules of the wheel that students install.

The wheel contains the students' commands and the modules that these import. All other modules stay
on the instructor's machine. A test computes the imported modules and compares them with this list,
so no module enters the wheel unnoticed.
"""

from setuptools import setup
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


class BuildForStudents(build_py):
    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if _name(*module[:2]) in MODULES]

    def _get_data_files(self):
        return [data for data in super()._get_data_files() if data[0] in MODULES]


def _name(package, module):
    return package if module == "__init__" else f"{package}.{module}"


setup(cmdclass={"build_py": BuildForStudents})
