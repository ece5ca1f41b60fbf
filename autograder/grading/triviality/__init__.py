"""Decide whether answers show the work for which a named mistake still earns points.

A named mistake costs few points because the rest of the exercise is correct. But a program without
any work can have the same outputs as the mistake: a constant, an argument, or a result of the right
type. So a named mistake earns points only if the answers show work.

* `work_check` judges the answer in each failed test. An answer shows work if it is not effortless
  (`answer_contents`: a constant, NaN, an argument or its mean), and if its values equal those of a
  program with only this mistake. If parameters fail to load, the layers are fitted to them and the
  tests run again.
* `trivial_programs` generates programs without work from the solution, by `hollow`. Tests that such
  programs pass show no work. `verify` grades all of these programs.

The answers come from a submission and may contain anything that the protocol can encode.
"""

__all__ = ["answer_contents", "trivial_programs", "work_check"]
