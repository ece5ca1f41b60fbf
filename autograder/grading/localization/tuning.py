"""Tuning constants of localization, each with its reason.

All were set on programs of the bank and of `benchmarks/`; verdicts and points never depend on them.
"""

# Search for edits.
LINES_REPORTED = 3  # a student can check three lines; more are not helpful
WEIGHT_WINDOW = 1.0  # an edit this much less likely than the first fix is a coincidence
ATTEMPTS_AFTER_FIX = 60  # another fix, if there is one, is found by then
ATTEMPTS_WITHOUT_FIX = 320  # later edits hardly ever fix anything
SINGLE_EDIT_SHARE = 0.85  # of the time, if partial repairs may need the rest
SINGLE_EDIT_SHARE_SEVERAL = 0.4  # of the time, if code crashes in several places

# Partial repairs.
PARTIAL_EDITS_TESTED = 3  # run against all hidden tests, which is slow
FAMILIES_PROBED = 4  # test families for each edit
LEAST_FIXED = 2  # tests; fixing one can be a coincidence
LEAST_FIXED_ELSEWHERE = 3  # tests, if no value deviates on that line

# Comparison with the student's own wrong answer.
CLOSER = 0.25  # a version must be this much closer to the solution to count as different
BARELY_WRONG = 1e-4  # answers this close to right cannot be judged by looking

# Traced values.
PROGRAMS_TRACED = 6  # right programs of an exercise
PROBES_TRACED = 2  # if the mistake has a name
PROBES_TRACED_UNNAMED = 5
ROWS_PER_TRACE = 2000
TESTS_AGREEING = 2  # one test can agree by coincidence
ROUNDING = 2e-4  # relative; right programs round differently

# Order of the edits: added to the weight of an edit (`repair/operators/table.py`).
STOPPED_BONUS = -0.8  # a failed test stops here
AGREED_BONUS = -2.6  # tests agree that values deviate here first: before everything else
NAMED_BONUS = -1.6  # a named mistake shows in this value
DEVIATING_BONUS = -1.2  # a value deviates here, perhaps only as a consequence
