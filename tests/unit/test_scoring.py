"""Test that points follow from named mistakes, inherited failures and the share of passed tests."""

import random
from dataclasses import replace

import pytest

from autograder.model.course import Exercise, Scoring
from autograder.model.report import schema
from autograder.model.report.schema import Verdict
from autograder.model.report.scoring import Evidence, Mistake, exercise_reports

BY_TESTS, BY_MISTAKES = Scoring(by="tests"), Scoring()


def outcomes(**verdicts):
    """Return test reports by name; a verdict with a number has that weight."""
    return tuple(
        schema.TestReport(name, Verdict(verdict.split()[0]), float([*verdict.split(), "1"][1]))
        for name, verdict in verdicts.items()
    )


def standing(
    name="softmax",
    points=2.0,
    mistakes=(),
    explained=(),
    carried=None,
    has_outputs=True,
    **verdicts,
):
    return Evidence(
        Exercise(name, points),
        outcomes(**verdicts),
        tuple(mistakes),
        frozenset(explained),
        has_outputs=has_outputs,
        carried=carried or {},
        inherits=("helper",) if carried else (),
    )


def score(*standings, rule=BY_MISTAKES):
    return [r.score for r in exercise_reports(standings, rule)]


GLOBAL = Mistake("one_maximum", 0.4, "global_maximum")
SLIP = Mistake("slip", 0.1)


def test_a_named_mistake_costs_its_price_however_few_tests_it_fails():
    assert score(standing(mistakes=[GLOBAL], explained=["b"], a="pass 12", b="wrong")) == [1.2]


def test_a_named_mistake_costs_its_price_however_many_tests_it_fails():
    assert score(standing(mistakes=[SLIP], explained="ab", a="wrong 12", b="wrong")) == [1.8]


def test_two_named_mistakes_cost_both_prices():
    both = standing(mistakes=[GLOBAL, SLIP], explained="ab", a="wrong", b="wrong")
    assert score(both) == [1.0]


def test_mistakes_never_cost_more_than_there_is():
    dear = [Mistake("x", 0.7), Mistake("y", 0.6)]
    reports = exercise_reports(
        [standing(mistakes=dear, explained="ab", a="wrong", b="wrong")], Scoring()
    )
    assert [d.points for d in reports[0].deductions] == [1.4, 0.6]


def test_what_most_failures_have_no_name_for_is_left_to_the_tests():
    assert score(standing(mistakes=[SLIP], explained="a", a="wrong", b="wrong 3")) == [0.0]
    even = standing(mistakes=[SLIP], explained="a", a="wrong", b="wrong", c="pass 2")
    assert score(even) == [1.0]


def test_a_failure_that_no_name_explains_costs_its_weight_beside_the_price():
    mine = standing(mistakes=[SLIP], explained="a", a="wrong 8", b="wrong 2")
    assert score(mine) == [2.0 * (1 - 0.1 - 0.2)]
    dear = standing(mistakes=[Mistake("x", 0.9)], explained="a", a="wrong 8", b="wrong 2")
    assert score(dear) == [0.0]


def test_errors_that_a_name_explains_show_nothing_of_what_else_is_there():
    mine = {"mistakes": [SLIP], "explained": "a", "has_outputs": False, "a": "crashed 8"}
    assert score(standing(**mine, b="wrong 2")) == [0.0]
    assert score(standing(**mine, b="pass 2")) == [1.8]


def test_a_small_failure_beside_explained_errors_costs_only_its_weight():
    mine = {"mistakes": [SLIP], "explained": "a", "has_outputs": False, "a": "crashed 19"}
    assert score(standing(**mine, b="wrong 1")) == [pytest.approx(2.0 * (1 - 0.1 - 1 / 20))]


def test_a_mistake_without_a_price_leaves_it_to_the_tests():
    unpriced = Mistake("x", None)
    assert score(standing(mistakes=[unpriced], explained="a", a="wrong", b="pass 3")) == [1.5]


def test_a_broken_contract_is_charged_once_and_the_other_tests_decide_the_rest():
    contract = Mistake("names", 0.15)
    tests = {"a": "wrong 6", "b": "wrong 2", "c": "pass 2"}
    named = standing(mistakes=[contract, SLIP], explained="ab", **tests)
    assert score(replace(named, fitted=frozenset("a"))) == [1.5]
    unnamed = standing(
        mistakes=[contract], explained="b", **tests | {"a": "wrong 2", "b": "wrong 6"}
    )
    (report,) = exercise_reports(
        [replace(unnamed, fitted=frozenset("a"), explained=frozenset("a"))], BY_MISTAKES
    )
    assert (report.score, [d.points for d in report.deductions]) == (0.5, [0.3])


def test_a_second_mistake_in_the_same_test_never_raises_the_score():
    hidden = Mistake("one_maximum", 0.4, shows_work=False)
    few = standing(mistakes=[hidden], explained="b", a="pass 12", b="wrong")
    (report,) = exercise_reports([few], BY_MISTAKES)
    assert (report.score, [d.points for d in report.deductions]) == (1.2, [0.8])
    assert score(standing(mistakes=[hidden], explained="b", a="pass", b="wrong 3")) == [0.5]
    assert score(few, rule=BY_TESTS) == [1.8462]
    partly = standing(mistakes=[hidden], explained="b", a="pass 12", b="wrong", c="wrong 2")
    assert score(partly) == [1.6]


def test_a_mistake_without_shown_work_does_not_limit_the_points_if_it_is_charged_elsewhere():
    hidden = Mistake("one_maximum", 0.4, "global_maximum", shows_work=False)
    here = standing("softmax", 2.0, [hidden], "b", a="pass 12", b="wrong")
    dearer = standing("attention", 4.0, [GLOBAL], "a", a="wrong", b="pass")
    assert score(here, dearer) == [1.8462, 2.4]


def test_the_course_may_leave_everything_to_the_tests():
    mine = standing(mistakes=[GLOBAL], explained="b", a="pass 3", b="wrong")
    assert score(mine, rule=BY_TESTS) == [1.5]


def test_a_forbidden_call_costs_all_whatever_it_is_named():
    assert score(standing(mistakes=[SLIP], explained="a", a="forbidden", b="pass")) == [0.0]


def test_one_belief_costs_once_in_a_week_where_it_costs_most():
    first = standing("softmax", 2.0, [GLOBAL], "a", a="wrong", b="pass")
    second = standing("attention", 4.0, [GLOBAL], "a", a="wrong", b="pass")
    assert score(first, second) == [2.0, 2.4]


def test_a_mistake_on_one_line_costs_once_where_it_costs_most():
    here = Mistake("line:scale", 0.3, line="flash.py:77")
    first = standing("tiled", 2.0, [here], "a", a="wrong", b="pass")
    second = standing("flash", 4.0, [here], "a", a="wrong", b="pass")
    elsewhere = standing("online", 2.0, [replace(here, line="flash.py:9")], "a", a="wrong")
    assert score(first, second, elsewhere) == [2.0, 2.8, 1.4]


def test_what_shows_no_work_is_charged_in_every_exercise():
    reshaped = Mistake("reshapes", 0.9, "heads_by_view")
    first = standing("split_heads", 1.0, [reshaped], "a", a="wrong", b="pass")
    second = standing("merge_heads", 1.0, [reshaped], "a", a="wrong", b="pass")
    assert score(first, second) == [0.1, 0.1]


def test_it_is_said_where_a_belief_was_counted():
    first = standing("softmax", 2.0, [GLOBAL], "a", a="wrong", b="pass")
    second = standing("attention", 4.0, [GLOBAL], "a", a="wrong", b="pass")
    assert exercise_reports([first, second], Scoring())[0].deductions[0].counted_in == "attention"


def test_two_signs_of_one_belief_in_one_exercise_cost_once():
    twice = [GLOBAL, Mistake("another_sign", 0.3, "global_maximum")]
    assert score(standing(mistakes=twice, explained="ab", a="wrong", b="wrong")) == [1.2]


def test_a_belief_that_cost_more_by_tests_is_not_charged_again():
    by_tests = standing("softmax", 2.0, [GLOBAL], "a", a="wrong 4", b="wrong 5", c="pass 9")
    by_name = standing("attention", 1.0, [GLOBAL], "a", a="wrong", b="pass")
    assert score(by_tests, by_name) == [1.0, 1.0]


def test_another_mistake_never_earns_more():
    one = standing(mistakes=[GLOBAL], explained="a", a="wrong", b="pass 9")
    two = standing(
        mistakes=[GLOBAL], explained="a", has_outputs=False, a="wrong", b="pass 8", c="crashed"
    )
    assert score(two) <= score(one) == [1.2]


def test_an_abandoned_exercise_does_not_bear_the_charge_of_another():
    abandoned = standing("softmax", 4.0, [GLOBAL], "a", a="wrong 9", b="wrong 10")
    forbidden = standing("logsumexp", 4.0, [GLOBAL], "a", a="wrong", b="forbidden 9")
    written = standing("attention", 4.0, [GLOBAL], "a", a="wrong", b="pass")
    assert score(abandoned, forbidden, written) == [0.0, 0.0, 2.4]


def elective(name, mistakes=(GLOBAL,)):
    ended = {"a": "wrong" if mistakes else "pass", "b": "pass"}
    found = standing(name, 4.0, mistakes, "a" if mistakes else "", **ended)
    return replace(found, exercise=Exercise(name, 4.0, elective=True))


def test_a_belief_is_charged_in_an_elective_that_counts():
    spare = [elective(name) for name in "xyz"]
    reports = exercise_reports([*spare, elective("best", ())], BY_MISTAKES, 3)
    assert sorted(r.score for r in reports) == [2.4, 2.4, 4.0, 4.0]


def test_what_only_calls_the_exercise_that_holds_a_mistake_is_not_charged():
    holds = standing("softmax", 2.0, [GLOBAL], "a", a="wrong", b="pass")
    calls = standing("attention", 4.0, [GLOBAL], "a", a="wrong", b="pass")
    assert score(holds, replace(calls, calls=frozenset({"softmax"}))) == [1.2, 4.0]


def test_mistakes_without_a_belief_are_charged_each():
    one = standing("softmax", 2.0, [SLIP], "a", a="wrong", b="pass")
    assert score(one, one) == [1.8, 1.8]


CARRIED = {"a": 1.0}


@pytest.mark.parametrize(("rule", "points"), [("full", 2.0), ("half", 1.5), ("none", 1.0)])
def test_what_is_inherited_counts_as_the_course_says(rule, points):
    mine = standing(carried=CARRIED, a="wrong", b="pass")
    assert score(mine, rule=Scoring(follow_through=rule)) == [points]


DEAR = Mistake("dear", 0.6, "belief")
BESIDE = [
    # an expensive mistake with a test of little weight, and an inherited failure
    [
        standing(
            mistakes=[DEAR], explained="a", carried={"c": 1.0}, a="wrong", b="pass 8", c="wrong"
        )
    ],
    # one misconception in two exercises; one of them inherits most failures
    [
        standing("softmax", 2.0, [DEAR], "a", carried={"c": 1.0}, a="wrong", c="wrong 8"),
        standing("attention", 3.0, [Mistake("dear", 0.5, "belief")], "a", a="wrong", b="pass"),
    ],
    [
        standing(
            "softmax", 2.0, [DEAR], "a", carried={"c": 0.7}, a="wrong", b="wrong 2", c="wrong"
        ),
        standing("attention", 3.0, [Mistake("dear", 0.3, "belief")], "a", a="wrong", b="pass"),
    ],
]


@pytest.mark.parametrize("standings", BESIDE)
def test_who_keeps_less_of_what_is_inherited_never_has_more_points(standings):
    full, half, none = (
        sum(score(*standings, rule=Scoring(follow_through=rule)))
        for rule in ("full", "half", "none")
    )
    assert full > half > none


def test_of_any_outcomes_the_stricter_rule_leaves_no_more():
    draw = random.Random(1)
    for _ in range(3000):
        standings = [any_standing(draw, name) for name in ("softmax", "attention", "heads")]
        rules = [Scoring(follow_through=rule) for rule in ("full", "half", "none")]
        scores = zip(*(score(*standings, rule=rule) for rule in rules), strict=True)
        assert all(full >= half >= none for full, half, none in scores)


def any_standing(draw, name):
    """Draw failing tests, some of them inherited, and named mistakes for some of the rest."""
    ends = ["pass", "wrong", "wrong", "crashed"] + ["forbidden"] * (draw.random() < 0.1)
    verdicts = {t: f"{draw.choice(ends)} {draw.choice([1, 2, 6])}" for t in "abcdef"}
    failed = [t for t, end in verdicts.items() if not end.startswith("pass")]
    carried = {t: draw.choice([0.5, 0.7, 1.0]) for t in failed if draw.random() < 0.5}
    own = [t for t in failed if t not in carried and draw.random() < 0.7]
    costs = [draw.choice([None, 0.1, 0.4, 0.6]) for _ in range(draw.randint(0, 2))]
    mistakes = [Mistake(str(c), c, draw.choice(["", "one", "other"])) for c in costs]
    points, has_outputs = draw.choice([1.0, 2.0, 4.0]), draw.random() < 0.5
    return standing(name, points, mistakes, own, carried, has_outputs, **verdicts)


def test_what_is_inherited_counts_as_far_as_the_helper_lets_the_test_tell():
    assert score(standing(carried={"a": 0.5}, a="wrong", b="pass")) == [1.5]


def test_a_forbidden_call_of_a_helper_costs_the_helper_alone():
    assert score(standing(carried=CARRIED, a="forbidden", b="pass")) == [2.0]


def test_an_own_mistake_is_priced_beside_what_is_inherited():
    mine = standing(mistakes=[SLIP], explained="c", carried=CARRIED, a="wrong", b="pass", c="wrong")
    assert score(mine) == [1.8]


def test_it_is_reported_whose_mistake_is_carried():
    (found,) = exercise_reports([standing(carried=CARRIED, a="wrong", b="pass")], Scoring())
    assert found.inherits == ("helper",)


def test_what_could_not_be_run_costs_nothing():
    assert score(standing(a="pass", b="not_run 5")) == [2.0]
