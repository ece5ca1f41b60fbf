"""Run hidden tests with plain pytest, such as from an editor.

pytest autograder/graders/week02_masking
"""

from autograder.authors.byhand import *  # noqa: F403
