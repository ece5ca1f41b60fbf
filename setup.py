"""What pyproject.toml cannot say about the wheel: one module stays out of it.

The wheel is what students install. It has the engine, and neither the hidden graders (a package,
left out in pyproject.toml) nor the demo, which names misconceptions of the bank.
"""

from setuptools import setup
from setuptools.command.build_py import build_py

LEFT_OUT = {("autograder.nbgrader", "demo")}


class BuildForStudents(build_py):
    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if tuple(module[:2]) not in LEFT_OUT]


setup(cmdclass={"build_py": BuildForStudents})
