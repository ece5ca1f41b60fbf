"""Test that runs are matched by their answers, their exceptions or their messages."""

from __future__ import annotations

from autograder.grading.diagnosis.equivalence import same_answers
from autograder.grading.diagnosis.match_bank import diagnose
from autograder.grading.outcomes import Flaw
from autograder.grading.running.pytest_plugin import Ran
from autograder.model.report.schema import TestReport as Reported
from autograder.model.report.schema import Verdict
from autograder.worker.protocol import frames
from autograder.worker.protocol.frames import Answer


def stopped(message: str, kind: str = "ValueError") -> Answer:
    raised = frames.Raised(kind, (kind, "Exception"), message, 3)
    return frames.Reply("raised", raised=raised), []


def value(what: float | str) -> Answer:
    return frames.Reply("ok", value=what), []


def ran(name: str, answer: Answer, flaw: Flaw = Flaw.VALUE, said: str = "It is wrong.") -> Ran:
    return Ran(Reported(name, Verdict.WRONG, 1.0, said), "f", [answer], flaw=flaw)


def names(student: list[Ran], **bank: list[Ran]) -> list[str]:
    return [n.name for n in diagnose(student, bank)]


def test_two_crashes_of_one_type_are_two_mistakes_if_they_say_other_things():
    mine, theirs = [stopped("13 positions do not fit in 9")], [stopped("10 do not fit in 9")]
    assert not same_answers(mine, theirs)
    assert same_answers(mine, mine)


def test_where_right_code_raises_too_each_may_use_words_of_its_own():
    mine, theirs = [stopped("no")], [stopped("d must be even, not 5")]
    assert same_answers(mine, theirs, [stopped("5 is odd")])


def not_compiled(message: str) -> list[Answer]:
    error = frames.Raised("CompilationError", ("CompilationError", "Exception"), message, 3)
    launch = frames.LaunchCounts(1, 0, 0, largest=1, loads=(), refused=error)
    counts = frames.Counts(0, 0, 0, launches=(launch,))
    return [(frames.Reply("ok", value=1.0, counts=counts), [])]


def test_two_kernels_that_the_compiler_rejects_differ_if_it_says_other_things():
    message = "AssertionError('Loop-carried variable {} has initial type {}')"
    mine = not_compiled(message.format("total", "int32"))
    assert same_answers(mine, not_compiled(message.format("running_sum", "int32")))
    assert not same_answers(mine, not_compiled(message.format("total", "fp32")))
    assert not same_answers(mine, not_compiled("AttributeError('no attribute append')"))


def test_what_is_not_refused_is_named_beside_wrong_values():
    student = [
        ran("a", value(1.0)),
        ran("b", value(2.0)),
        ran("c", value("mine"), Flaw.REFUSAL, "It accepts them."),
    ]
    found = names(
        student,
        doubles=[ran("a", value(1.0)), ran("b", value(2.0))],
        accepts=[ran("c", value("theirs"), Flaw.REFUSAL, "It accepts them.")],
    )
    assert sorted(found) == ["accepts", "doubles"]


def test_less_than_half_is_named_only_if_every_answer_agrees():
    student = [ran(name, value(n)) for n, name in enumerate("abcde")]
    certain = [ran("a", value(0)), ran("b", value(1))]
    assert names(student, certain=certain) == ["certain"]
    assert names(student, partly=[*certain, ran("c", value(7))]) == []
    assert names(student, one=certain[:1]) == []


def test_what_is_drawn_otherwise_tells_by_itself():
    student = [ran("a", value("mine"), Flaw.DRAWN, "Rows run upwards.")]
    other = [ran("a", value("theirs"), Flaw.DRAWN, "Rows run upwards.")]
    assert names(student, upside_down=other) == ["upside_down"]
    assert names(student, labels=[ran("a", value("theirs"), Flaw.DRAWN, "The x label.")]) == []


def crashed(name: str) -> Ran:
    return Ran(Reported(name, Verdict.CRASHED, 1.0, "It raised."), "f", [stopped("no")])


def test_who_stops_with_an_error_gives_no_values_to_speak_against_a_mistake():
    zero = [ran("a", value(0)), ran("b", value(0)), ran("c", value(0))]
    student = [ran("a", value(0)), ran("b", value(0)), crashed("c"), *map(crashed, "defgh")]
    assert names(student, zero=zero) == ["zero"]
    assert names([*student[:2], ran("c", value(5)), *student[3:]], zero=zero) == []


def test_what_is_accepted_is_named_if_one_mistake_accepts_it():
    accepts = [ran("c", value("theirs"), Flaw.REFUSAL, "It accepts them.")]
    student = [
        *(ran(n, value(n)) for n in "abdefg"),
        ran("c", value("mine"), Flaw.REFUSAL, "It accepts them."),
    ]
    assert names(student, accepts=accepts) == ["accepts"]
    assert names(student, accepts=accepts, also=accepts) == []


def test_who_accepts_the_first_arguments_is_not_who_accepts_the_second():
    theirs = Ran(
        Reported("c", Verdict.WRONG, 1.0, "It accepts them."),
        "f",
        [stopped("7"), value("theirs")],
        flaw=Flaw.REFUSAL,
    )
    student = [ran("c", value("mine"), Flaw.REFUSAL, "It accepts them.")]
    assert names(student, second=[theirs]) == []


def test_one_test_that_speaks_for_two_mistakes_names_neither_beside_another():
    clear = [ran(n, value(n)) for n in "abcd"]
    vague = [ran("a", value("x")), ran("e", value("nan"))]
    student = [*clear, ran("e", value("nan"))]
    assert sorted(names(student, clear=clear, vague=vague)) == ["clear", "vague"]
    assert names(student, clear=clear, vague=vague, other=vague) == ["clear"]


def explained(student: list[Ran], **bank: list[Ran]) -> dict[str, str]:
    return {n.name: "".join(sorted(n.tests)) for n in diagnose(student, bank)}


def numbers(tests: str, answers: str) -> list[Ran]:
    return [ran(test, value(float(n))) for test, n in zip(tests, answers, strict=True)]


def test_a_name_explains_the_tests_that_end_as_its_own_do():
    theirs = numbers("abcd", "1234")
    assert explained(numbers("abcd", "1239"), three=theirs) == {"three": "abc"}
    stops = [*numbers("abc", "123"), crashed("d")]
    assert explained(stops, three=theirs) == {"three": "abc"}


def test_a_name_that_fits_nearly_everywhere_explains_the_rest_but_no_error():
    tests, theirs = "abcdefghij", numbers("abcdefghij", "1234567890")
    assert explained(numbers(tests, "1234567899"), ten=theirs) == {"ten": tests}
    stops = [*numbers("abcdefghi", "123456789"), crashed("j")]
    assert explained(stops, ten=theirs) == {"ten": "abcdefghi"}


def test_where_two_mistakes_meet_their_answers_are_neithers():
    first, second = numbers("abcd", "1111"), numbers("cdef", "2222")
    both = numbers("abcdef", "117722")
    assert explained(both, first=first, second=second) == {"first": "abcd", "second": "cdef"}


def test_two_names_for_one_mistake_blur_nothing():
    once, again = numbers("abcdefg", "1111222"), numbers("abcdefg", "1111333")
    found = explained(numbers("abcdefg", "1111555"), once=once, again=again)
    assert set(found.values()) <= {"abcd"}


def pair(first: float, second: float) -> Answer:
    return frames.Reply("ok", value=frames.SeqV("tuple", (first, second))), []


def test_a_mistake_in_one_of_two_results_is_a_part_of_the_mistake_in_both():
    """Compare caches that store wrong keys, or wrong keys and values: the former loses no more."""
    both = [ran(name, pair(5.0, 6.0)) for name in "ab"]
    right = {name: [pair(1.0, 2.0)] for name in "ab"}
    (found,) = diagnose([ran(name, pair(5.0, 2.0)) for name in "ab"], {"both": both}, right)
    assert (found.name, found.explains, found.mostly) == ("both", 2, True)
    assert not diagnose([ran(name, pair(5.0, 3.0)) for name in "ab"], {"both": both}, right)
    assert not diagnose([ran(name, pair(1.0, 2.0)) for name in "ab"], {"both": both}, right)


def test_who_makes_a_part_of_it_has_the_name_of_the_part_where_there_is_one():
    right = {name: [pair(1.0, 2.0)] for name in "ab"}
    half = [ran(name, pair(5.0, 2.0)) for name in "ab"]
    bank = {"both": [ran(name, pair(5.0, 6.0)) for name in "ab"], "half": half}
    assert [n.name for n in diagnose(half, bank, right)] == ["half"]


def test_two_names_for_one_mistake_do_not_make_each_other_likelier():
    """Use two misconceptions that each explain some failures: neither excuses the other."""
    student = [ran(name, value(n)) for n, name in enumerate("abcdefghij")]
    one = [ran(name, value(n if n < 5 else -1)) for n, name in enumerate("abcdefghi")]
    other = [ran(name, value(n if n < 2 else -2)) for n, name in enumerate("abcdefghi")]
    assert names(student, one=one, other=other) == []
    assert names(student, one=one) == []
