"""Hidden tests under plain pytest and an editor's test button.

pytest autograder/graders/week02_masking
"""

from autograder.authors.byhand import *  # noqa: F403
