"""pytest as we start it: what its user has set for other tests does not reach it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest


def run_pytest(arguments: Sequence[str], plugin: object) -> int:
    """pytest's exit code; options and plugins that the environment brings are left out."""
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return int(pytest.main(list(arguments), plugins=[plugin]))
