"""Tuning constants of localization, each with its reason.

All were tuned on the bank and on `benchmarks/`; verdicts and points never depend on them.
"""

# Search for edits.
LINES_REPORTED = 3  # a student can check three lines; more would not help
WEIGHT_WINDOW = 1.0  # a fix this much heavier than the lightest one is a coincidence
ATTEMPTS_AFTER_FIX = 60  # by then, any further fix has usually been found
ATTEMPTS_WITHOUT_FIX = 320  # later edits rarely fix a test
SINGLE_EDIT_SHARE = 0.85  # of the time budget; partial repairs may need the rest
SINGLE_EDIT_SHARE_SEVERAL = 0.4  # of the time budget, if code raises in several places

# Partial repairs.
PARTIAL_EDITS_TESTED = 3  # each runs all hidden tests, which is slow
FAMILIES_PROBED = 4  # test families that each edit has to answer
LEAST_FIXED = 2  # tests; fixing one can be a coincidence
LEAST_FIXED_ELSEWHERE = 3  # tests, if no value deviates on that line

# Comparison with the student's own wrong answer.
CLOSER = 0.25  # a version must be this much closer to the solution to count as different
BARELY_WRONG = 1e-4  # too close to correct to compare with

# Traced values.
PROGRAMS_TRACED = 6  # correct programs of an exercise to trace
PROBES_TRACED = 2  # failed tests to trace, if the diagnosis named a misconception
PROBES_TRACED_UNNAMED = 5
ROWS_PER_TRACE = 2000
TESTS_AGREEING = 2  # one test can agree by coincidence
ROUNDING = 2e-4  # relative; correct programs round differently

# Order of the edits: added to the weight of an edit (`repair/candidates.py`).
STOPPED_BONUS = -0.8  # a failed test raises here
AGREED_BONUS = -2.6  # several tests agree that values first deviate here
NAMED_BONUS = -1.6  # this line computes the wrong value of a named misconception
DEVIATING_BONUS = -1.2  # a value deviates here, perhaps because of an earlier line
