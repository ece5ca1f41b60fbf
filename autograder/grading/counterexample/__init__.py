"""Find the smallest public input on which a submission's exercise is wrong.

`CounterexampleSearch.find` returns a `Counterexample`: the call, its correct value, its value in
the submission, and a notebook cell that makes the call. `Engine.find_counterexamples` adds them to
reports, and `write_inputs` stores the calls that show the known misconceptions.
"""

from .search import CounterexampleSearch
from .small_inputs import write_inputs

__all__ = ["CounterexampleSearch", "write_inputs"]
