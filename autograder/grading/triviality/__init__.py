"""Decide whether answers show work, because the price of a named mistake pays for the rest of it.

Theory of operation. A named mistake costs little because everything else is there. A program that
does none of the work can match the mistake's outputs: a constant, an argument, a result of the
right type. So a name pays only where an answer shows some of the rest, by three checks.

* `effortless`: the answer is a constant, NaN, an argument or the mean of an argument.
* `work_check`: the test stopped before it compared values, for example at a wrong dtype. Then the
  values are compared here in spite of that. Parameters that fail to load are fitted, and the tests
  run again.
* `trivial_programs`: programs without work, made from the solution by `hollow`, pass the same
  tests. `verify` grades all of them.

The answers come from a submission and may be anything that the protocol can encode.
"""

__all__ = ["answer_contents", "effortless", "trivial_programs", "work_check"]
