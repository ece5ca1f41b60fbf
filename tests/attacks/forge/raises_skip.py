"""Line 19. Raises exceptions that test runners treat as a skip, or that escape handlers.

Variants: pytest unittest skipped outcome base exit stop generator
Expected: softmax=crashed
Score at most: softmax=0
"""

class Skipped(BaseException):
    pass


class OutcomeException(BaseException):
    pass


def softmax(x, dim=-1):
    if VARIANT == "pytest":
        import pytest

        pytest.skip("not today")
    if VARIANT == "unittest":
        import unittest

        raise unittest.SkipTest("not today")
    raise {"skipped": Skipped, "outcome": OutcomeException, "base": BaseException, "exit": SystemExit, "stop": StopIteration, "generator": GeneratorExit}[VARIANT]("not today")
