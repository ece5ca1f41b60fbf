"""Search the small inputs that show the misconceptions of a week, for `build --inputs`."""

from pathlib import Path

from ...files import public_draw
from ...grading.counterexample import write_inputs
from ...grading.warmup import warm_engine
from ...model.availability import CPU, FAKE_GPU
from ...model.course import Counterexamples, Course, Week

_BUDGET = Counterexamples(seconds=10.0, submission=6000.0)


def search_inputs(course: Course, week: Week) -> Path:
    """Write the inputs of each exercise to a file beside the week's solution; return its path."""
    engine = warm_engine(course, week, (CPU, FAKE_GPU), public_draw(0), None)
    search = engine.counterexamples(_BUDGET)
    try:
        found = {e.name: search.inputs_of_bank(e.name) for e in week.exercises}
    finally:
        search.close()
        engine.close()
    return write_inputs(engine.bank.folder, found)
