"""What a conftest.py beside the weeks' hidden tests imports: they run under plain pytest then."""

from ..grading.running.standalone import *  # noqa: F403  # fixtures and hooks, by the list that it keeps
from ..grading.running.standalone import __all__ as __all__
