"""Test how the feedback works out the points: each deduction with its reason."""

from autograder.feedback.score_breakdown import arithmetic, carried_words
from autograder.model.report import schema
from autograder.model.report.schema import Verdict

MINUS = "\N{MINUS SIGN}"


def outcome(name, verdict=Verdict.PASS, weight=1.0, carried=0.0):
    return schema.TestReport(name, verdict, weight, carried=carried)


def exercise(score, tests, **fields):
    return schema.ExerciseReport("softmax", score, 2.0, tests=tuple(tests), **fields)


def lines(found):
    return [str(line) for line in arithmetic(found)]


def test_a_named_mistake_is_subtracted_with_its_share():
    found = exercise(
        1.2,
        [outcome("a", Verdict.WRONG)],
        deductions=(schema.Deduction("global_maximum", 0.8),),
        explained=(schema.Diagnosis("global_maximum", "Takes one maximum.", ""),),
    )
    assert lines(found) == ["2 for the exercise", f"{MINUS} 0.8 (40 %) Takes one maximum", "= 1.2"]


def test_checks_that_no_name_explains_are_subtracted_apart():
    found = exercise(
        1.2,
        [outcome("a", Verdict.WRONG, 8.0), outcome("b", Verdict.WRONG, 2.0)],
        deductions=(schema.Deduction("slip", 0.4),),
    )
    assert lines(found)[2] == f"{MINUS} 0.4 for failed checks that this does not explain"


def test_a_belief_that_was_counted_elsewhere_costs_nothing_and_says_where():
    mistake = schema.Deduction("global_maximum", 0.0, "attention")
    found = exercise(2.0, [outcome("a", Verdict.WRONG)], deductions=(mistake,))
    assert lines(found)[1] == f"{MINUS} 0 global_maximum: already counted in `attention`"


def test_the_share_of_tests_is_shown_in_parts():
    found = exercise(1.5, [outcome("a", weight=3.0), outcome("b", Verdict.WRONG)])
    assert lines(found)[1] == f"{MINUS} 0.5 (1 of 4 parts) 1 failed check"


def test_it_is_said_why_passed_checks_earn_nothing():
    found = exercise(0.0, [outcome("one_token"), outcome("values", Verdict.WRONG, 9.0)])
    _, why, last = lines(found)
    assert why.startswith(f"{MINUS} 2 because each check that passes would also pass with zeros")
    assert last == "= 0"


def test_what_could_not_be_run_is_no_part():
    found = exercise(
        1.0, [outcome("a"), outcome("b", Verdict.WRONG), outcome("c", Verdict.NOT_RUN)]
    )
    assert lines(found)[1] == f"{MINUS} 1 (1 of 2 parts) 1 failed check"


def test_a_complete_exercise_needs_no_sum():
    assert lines(exercise(2.0, [outcome("a")])) == []


def test_an_exercise_without_points_needs_no_sum():
    assert lines(exercise(0.0, [outcome("a", Verdict.WRONG)])) == []


def test_it_is_said_whose_mistake_is_carried():
    tests = [outcome("a", Verdict.WRONG, carried=1.0), outcome("b", Verdict.WRONG, carried=1.0)]
    assert carried_words(exercise(2.0, tests, inherits=("mask",))) == (
        "Correct, except for `mask`, which it calls: 2 checks fail only because of that and cost "
        "nothing here."
    )


def test_what_is_wrong_besides_is_not_called_right():
    tests = [outcome("a", Verdict.WRONG, carried=1.0), outcome("b", Verdict.WRONG)]
    assert carried_words(exercise(1.0, tests, inherits=("mask",))) == (
        "1 more check fails only because of `mask`; it costs nothing here."
    )


def test_it_is_said_beside_what_checks_were_run():
    tests = [outcome("a", Verdict.WRONG), outcome("b")]
    said = "We tested this with a correct `mask`."
    assert carried_words(exercise(1.0, tests, beside=("mask",))) == said
    both = [*tests, outcome("c", Verdict.WRONG, carried=1.0)]
    found = exercise(1.0, both, inherits=("mask",), beside=("mask",))
    assert carried_words(found).endswith(said)
    assert said not in carried_words(exercise(2.0, [both[2]], inherits=("mask",), beside=("mask",)))


def test_half_of_what_is_carried_counts_in_part():
    tests = [outcome("a", Verdict.WRONG, carried=0.5)]
    assert carried_words(exercise(1.5, tests, inherits=("mask",))).endswith(
        "1 check fails only because of that and counts only in part here."
    )
