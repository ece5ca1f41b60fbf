"""Find the smallest public input on which a submission's exercise is wrong.

`CounterexampleSearch.find` returns a `Counterexample`: the call, what it should give, what it
gives, and a notebook cell that shows it. `Engine.counterexamples` creates a search.
"""

from .contest import Counterexample
from .search import CounterexampleSearch

__all__ = ["Counterexample", "CounterexampleSearch"]
