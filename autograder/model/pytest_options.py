"""Run pytest without the options and plugins that the user's environment sets."""

import os
from collections.abc import Sequence

import pytest


def run_pytest(arguments: Sequence[str], plugin: object) -> int:
    """Run pytest with one plugin and return its exit code."""
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return int(pytest.main(list(arguments), plugins=[plugin]))
