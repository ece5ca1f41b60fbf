"""Decide whether answers show the work for which a named mistake still earns points.

Theory of operation. A named mistake costs few points because the rest of the exercise is there. But
a program that does none of the work can match the mistake's outputs with a constant, an argument or
a result of the right type. So a name earns points only if answers show work, by three checks.

* `answer_contents`: the answer is a constant, NaN, an argument or the mean of an argument.
* `work_check`: the test stopped before it compared values, for example at a wrong dtype. Then the
  values are compared here instead. If parameters fail to load, the layers are fitted to them and
  the tests run again.
* `trivial_programs`: programs without work, made from the solution by `hollow`, pass the same
  tests. `verify` grades all of them.

The answers come from a submission and may be anything that the protocol can encode.
"""

__all__ = ["answer_contents", "trivial_programs", "work_check"]
