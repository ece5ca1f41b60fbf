"""Decide whether a submission with a named mistake shows enough work to earn points.

A named mistake costs few points because the rest of the exercise is correct. But a program that
does none of the work can have the same outputs as the mistake: a constant, an argument, or a result
of the right type. The exercise therefore earns points only if its answers show work.

* `work_check` judges the answer in each failed test. An answer shows work if it is not effortless
  (`answer_contents`: a constant, NaN, an argument or its mean), and if its values equal those of a
  program with only this mistake. If a state dict fails to load, the layers are fitted to its
  parameters and the tests run again.
* `trivial_programs` uses `hollow` to turn the solution into programs that do no work. A test that
  a trivial program passes shows no work. `verify` grades all trivial programs.

The answers come from a submission and may contain anything that the protocol can encode.
"""

__all__ = ["answer_contents", "trivial_programs", "work_check"]
