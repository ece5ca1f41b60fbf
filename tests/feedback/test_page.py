"""Test the content of the student's feedback page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

import autograder
from autograder.feedback.render import (
    escaped,
    exercise_fragment,
    exercise_text,
    feedback_page,
    submission_text,
)
from autograder.feedback.view import location_sentence
from autograder.model.report.findings import SHOWN
from autograder.model.report.schema import (
    Counterexample,
    Deduction,
    Diagnosis,
    Ending,
    Suspect,
    Verdict,
)

from .conftest import check, exercise

EVIL = '<script>alert(1)</script><img src=x onerror="alert(2)">\'"&{{ 7*7 }}'


class Reader(HTMLParser):
    """Collects all tags with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._hushed = False
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._hushed = tag == "style"
        self.text += " " if tag in ("td", "th") else ""

    def handle_endtag(self, tag: str) -> None:
        self._hushed = False

    def handle_data(self, data: str) -> None:
        if not self._hushed:
            self.text += data


@pytest.fixture
def evil(submission):
    tests = [
        check(f"test_a[{EVIL}]", "wrong", EVIL, EVIL),
        check("test_a[cpu]", "pass", "", EVIL),
        check("test_b", "not_run", EVIL, EVIL),
        check("test_c", "crashed", f"`{EVIL}`"),
    ]
    return submission(exercise("causal_mask", *tests, diagnosis=EVIL), name=EVIL, message=EVIL)


@pytest.mark.parametrize("verdict", ["graded", "refused", "grader_fault"])
def test_nothing_from_a_student_becomes_markup(verdict, evil, week, course):
    import msgspec

    page = feedback_page(
        msgspec.structs.replace(evil, verdict=Ending(verdict)), week, course, student=EVIL
    )
    seen = Reader(page)
    assert not {"script", "img"} & {tag for tag, _ in seen.tags}
    assert not [a for _, attributes in seen.tags for a in attributes if a.startswith("on")]
    assert "{{ 7*7 }}" in seen.text


def test_nothing_from_a_student_becomes_markup_in_a_fragment(evil):
    seen = Reader(exercise_fragment(evil.exercises[0], message=EVIL))
    assert not {"script", "img"} & {tag for tag, _ in seen.tags}


def test_no_template_turns_escaping_off():
    for path in Path(autograder.__file__).parent.rglob("templates/*.j2"):
        assert not re.search(r"\|\s*safe|autoescape", path.read_text("utf-8")), path.name


def test_the_page_loads_nothing(evil, week, course):
    seen = Reader(feedback_page(evil, week, course))
    links = [a.get("href") or "" for tag, a in seen.tags if tag == "a"]
    assert all(link.startswith("#") for link in links)
    assert not [a for _, a in seen.tags if "src" in a]
    assert "link" not in {tag for tag, _ in seen.tags}


def test_the_page_forbids_scripts(evil, week, course):
    policies = [a for tag, a in Reader(feedback_page(evil, week, course)).tags if tag == "meta"]
    (policy,) = [a["content"] or "" for a in policies if "http-equiv" in a]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")


def test_links_lead_to_a_heading_of_the_page(submission, week, course):
    seen = Reader(feedback_page(submission(exercise("causal_mask", check("t"))), week, course))
    targets = {a["id"] for _, a in seen.tags if "id" in a}
    assert {a["href"][1:] for tag, a in seen.tags if tag == "a"} <= targets


def test_a_failed_property_is_a_claim_and_a_message(submission, week, course):
    failed = check("test_t", "wrong", "It is transposed.", "Rows belong to queries.")
    text = Reader(feedback_page(submission(exercise("causal_mask", failed)), week, course)).text
    assert "It is transposed." in text
    assert "Rows belong to queries." in text


def test_a_misconception_is_named_in_a_sentence(submission, week, course):
    found = exercise("causal_mask", check("t", "wrong", "m"), diagnosis="Hides the past.")
    text = Reader(feedback_page(submission(found), week, course)).text
    assert "It looks as if your code hides the past. Which axis is it?" in text


def test_nothing_is_said_of_how_much_a_mistake_explains_where_that_is_not_known(
    submission, week, course
):
    """Omit the share of each change if two changes fix a program only together."""
    one = exercise(
        "causal_mask", check("values", "wrong", "m"), diagnosis="Sums along another axis."
    )
    assert one.explained[0].of == 0
    page = Reader(feedback_page(submission(one), week, course)).text
    for told in (page, Reader(exercise_fragment(one)).text, exercise_text(one)):
        assert "sums along another axis" in told
        assert "This explains" not in told


def test_what_leaves_most_of_it_open_is_no_headline(submission, week, course):
    failed = (check(f"test_{i}", "wrong", "m") for i in range(8))
    found = Diagnosis("d", "Takes an odd width too.", "", explains=1, of=8)
    one = msgspec.structs.replace(exercise("causal_mask", *failed), explained=(found,))
    page = Reader(feedback_page(submission(one), week, course)).text
    for told in (page, Reader(exercise_fragment(one)).text, exercise_text(one)):
        assert "Among other things, it looks as if your code takes an odd width too." in told


def unfolded(page: str) -> str:
    """Return the visible text of the first exercise of a page without opening any details."""
    section = page.partition('<section class="exercise"')[2].partition("</section>")[0]
    while "<details" in section:
        before, _, rest = section.rpartition("<details")
        section = before + rest.partition("</details>")[2]
    return Reader(f"<p {section}").text


def test_the_headline_is_the_requirement_that_describes_the_mistake(submission, week, course):
    large = check("test_large", "wrong", "It differs.", "Accept large scores.")
    causal = check("test_causal", "wrong", "It differs.", "Let query i see the keys j <= i.")
    found = exercise("causal_mask", large, causal)
    found = msgspec.structs.replace(found, headline=causal.name)
    page = feedback_page(submission(found), week, course)
    for told in (unfolded(page), exercise_text(found, details=False)):
        assert "j <= i" in told
        assert "large scores" not in told


def test_the_first_mistake_is_shown_and_the_rest_is_folded(submission, week, course):
    failed = [
        check(f"t{n}", "wrong", f"{word} differs.", f"Claim {n}.") for n, word in enumerate("ab")
    ]
    found = exercise("causal_mask", *failed, score=1.0, diagnosis="Hides the token itself.")
    second = Diagnosis("e", "Returns integers.", "", explains=1, of=2)
    found = msgspec.structs.replace(found, explained=(*found.explained, second))
    page = feedback_page(submission(found), week, course)
    for told in (unfolded(page), exercise_text(found, details=False)):
        assert "hides the token itself" in told
        for folded in ("returns integers", "differs", "Claim 0.", "Claim 1.", "for the exercise"):
            assert folded not in told
            assert folded in Reader(page).text


def test_a_mistake_that_is_charged_elsewhere_says_where(submission, week, course):
    found = exercise("causal_mask", check("t", "wrong"), score=2.0, diagnosis="Is late.")
    charged = Deduction("d", 0.0, "masked_softmax")
    page = feedback_page(
        submission(msgspec.structs.replace(found, deductions=(charged,))), week, course
    )
    told = Reader(page).text
    assert "Not correct yet, but already charged in masked_softmax" in told
    assert "Partly correct" not in told


def test_the_first_wrong_value_is_shown_with_its_example(submission, week, course):
    value = "Line 3 computes `scores` = [[2, 1]] from `q` = [[2]]; [[1, 1]] is expected."
    example = Counterexample("causal_mask(1)", "1", "2", line=3, wrong_value=value)
    shown = Suspect("masking.py", 3, "causal_mask", SHOWN, alone=False)
    found = exercise("causal_mask", check("t", "wrong"), diagnosis="Is late.")
    found = msgspec.structs.replace(found, counterexample=example, suspects=(shown,))
    page = unfolded(feedback_page(submission(found), week, course))
    for told in (page, exercise_text(found).replace("`", "")):
        assert value.replace("`", "") in told
        assert "first shows on line" not in told  # the same line, told once


def test_above_the_fold_are_headline_hint_example_and_line(submission, week, course):
    example = Counterexample("causal_mask(1)", "1", "2", line=3, wrong_value="Line 3 is wrong.")
    found = exercise("causal_mask", check("t", "wrong", "m " * 99, "c " * 99), diagnosis="Is late.")
    found = msgspec.structs.replace(found, counterexample=example)
    page = unfolded(feedback_page(submission(found), week, course))
    assert len(page.partition("causal_mask")[2].split()) <= 60


def test_a_symptom_is_shown_with_the_message_that_says_more(submission, week, course):
    failed = check("values", "wrong", "It lacks `W_q.bias`.", "Load the weights.")
    lacks = Diagnosis("shows:lacks", "Lacks required parameters.", "", 1, 1)
    found = msgspec.structs.replace(exercise("causal_mask", failed), explained=(lacks,))
    for told in (
        unfolded(feedback_page(submission(found), week, course)),
        exercise_text(found, details=False),
    ):
        assert "W_q.bias" in told


def test_one_cause_is_told_once(submission, week, course):
    failed = [check(f"test_{i}", "crashed", "It stopped.", f"Claim {i}.") for i in range(9)]
    text = Reader(feedback_page(submission(exercise("causal_mask", *failed)), week, course)).text
    assert text.count("It stopped.") == 1


@pytest.mark.parametrize("verdict", [v for v in Verdict if v.failed and v.attempted])
def test_a_claim_is_said_to_fail_only_if_it_was_tried(submission, week, course, verdict):
    values = check("test_values", verdict, "It differs.", "Values are right.")
    gradients = check("test_gradients", verdict, "It differs.", "Gradients flow.")
    found = exercise("causal_mask", values, gradients)
    text = Reader(feedback_page(submission(found), week, course)).text
    asked = text.partition("Requirement")[2].partition("1 more check fails the same way")[0]
    assert "Values are right." in asked
    assert "Gradients flow." not in asked
    for told in (Reader(exercise_fragment(found)).text, exercise_text(found)):
        assert "Values are right." in told
        assert "Gradients flow." not in told
        assert "Fix this one first." in told


def test_all_is_listed_that_was_not_run(submission, week, course):
    skipped = [check(f"test_{n}", "not_run", "No GPU.", f"Claim {n}.") for n in "ab"]
    text = Reader(feedback_page(submission(exercise("causal_mask", *skipped)), week, course)).text
    assert "Claim a. Claim b." in text
    assert "the same way" not in text


def test_what_differs_in_its_numbers_alone_is_told_once(submission, week, course):
    said = "The result differs in every entry, with the largest error at index [{}, 1]."
    failed = [check(f"test_{i}", "wrong", said.format(i), f"Claim {i}.") for i in range(9)]
    text = Reader(feedback_page(submission(exercise("causal_mask", *failed)), week, course)).text
    assert text.count("differs in every entry") == 1
    assert "index [0, 1]" in text
    assert "8 more checks fail the same way" in text


ONE_FLAW = (
    "`p` differs in every entry, with the largest error at index [0, 1].",
    "`p` differs in 96 of 120 entries, with the largest error at index [1, 4, 2], in 8 of 10 rows.",
    "`p` differs in about 7 in 10 of 2160 entries, with the largest error at index [31, 2, 5].",
)


def test_how_many_entries_are_wrong_makes_no_other_cause(submission, week, course):
    failed = [check(f"test_{n}", "wrong", said) for n, said in enumerate(ONE_FLAW)]
    failed.append(check("test_last", "wrong", f"{ONE_FLAW[0]} All entries are zero."))
    text = Reader(feedback_page(submission(exercise("causal_mask", *failed)), week, course)).text
    assert text.count("`p`") + text.count("p differs") == 2
    assert "2 more checks fail the same way" in text


def test_of_a_mistake_with_a_name_the_line_asks_nothing():
    place = (Suspect("masking.py", 12, "causal_mask", "function"),)
    assert location_sentence(place) == (
        "One line explains all failed checks: line 12 of masking.py (is this the right function?)."
    )
    assert (
        location_sentence(place, asking=False)
        == "One line explains all failed checks: line 12 of masking.py."
    )


def test_other_words_are_another_cause(submission, week, course):
    one = check("test_a", "wrong", "It differs in 3 of 4 entries.", "Claim.")
    other = check("test_b", "wrong", "It differs in 3 of 4 rows.", "Claim.")
    alone = check("test_c", "wrong", "`log2` answers 0.5.", "Claim.")
    found = exercise("causal_mask", one, other, alone)
    text = Reader(feedback_page(submission(found), week, course)).text
    assert "3 of 4 entries" in text
    assert "3 of 4 rows" in text
    assert "the same way" not in text


def test_the_axes_that_fail_are_listed_if_others_pass(submission, week, course):
    tests = [
        check("test_t[float32-cpu]"),
        check("test_t[float32-fake-gpu]", "crashed", "m"),
        check("test_t[bfloat16-cpu]"),
        check("test_t[bfloat16-fake-gpu]", "not_run", "No such device."),
    ]
    text = Reader(feedback_page(submission(exercise("causal_mask", *tests)), week, course)).text
    assert "(with float32-fake-gpu)" in text


def test_what_was_not_run_says_why(submission, week, course):
    skipped = exercise("causal_mask", check("a"), check("b", "not_run", "No graphics card here."))
    text = Reader(feedback_page(submission(skipped), week, course)).text
    assert "No graphics card here." in text
    assert "These checks do not count." in text


def test_an_unwritten_exercise_is_open_and_not_wrong(submission, week, course):
    empty = check(
        "t", "unwritten", "`causal_mask` is not filled in yet (line 3 of masking.py).", line=3
    )
    text = Reader(feedback_page(submission(exercise("causal_mask", empty)), week, course)).text
    assert "○ Not written yet" in text
    assert "Stopped with an error" not in text


def test_a_refused_submission_says_why(submission, week, course):
    report = submission(verdict=Ending.REFUSED, message="masking.py is missing", score=0.0)
    text = Reader(feedback_page(report, week, course)).text
    assert "could not be graded masking.py is missing" in text


def test_a_fault_of_ours_shows_no_score(submission, week, course):
    report = submission(verdict=Ending.GRADER_FAULT, message="test_x.py: KeyError: 'secret'")
    text = Reader(feedback_page(report, week, course)).text
    assert "System error" in text
    assert "secret" not in text
    assert "points" not in text


def test_a_forbidden_call_explains_the_zero(submission, week, course):
    used = exercise("causal_mask", check("t", "forbidden", "Without `tril`."), check("u"))
    text = Reader(feedback_page(submission(used), week, course)).text
    assert "Forbidden call: this exercise earns no points" in text


def test_next_steps_begin_with_a_named_mistake(submission, week, course):
    first = exercise("causal_mask", check("t", "wrong", "m"))
    second = exercise("masked_softmax", check("t", "wrong", "m"), points=3.0, diagnosis="Errs.")
    text = Reader(feedback_page(submission(first, second), week, course)).text
    steps = text.partition("What to do next")[2]
    assert steps.index("masked_softmax") < steps.index("causal_mask")


def test_a_fragment_needs_no_stylesheet(submission):
    fragment = exercise_fragment(exercise("causal_mask", check("t", "wrong", "m"), score=0.5))
    seen = Reader(fragment)
    assert "Partly correct: 0.5 of 2 points for causal_mask" in seen.text
    assert not [a for _, a in seen.tags if "class" in a]
    assert not re.search(r"[^-]color\s*:|background", fragment)


def test_a_fragment_of_what_was_refused_says_why():
    text = Reader(exercise_fragment(exercise("causal_mask"), 2.0, "masking.py is missing")).text
    assert text == "- Not graded: 0 of 2 points for causal_mask masking.py is missing"


BROKEN = "masking.py does not run: line 3, '(' was never closed\n    x = (1\n        ^"


def test_a_module_that_does_not_run_is_told_once_with_its_line(submission, week, course):
    import msgspec

    report = submission(exercise("causal_mask"), exercise("padding_mask"), message=BROKEN)
    report = msgspec.structs.replace(report, verdict=Ending.REFUSED)
    page = feedback_page(report, week, course)
    assert page.count("does not run") == 1
    assert "<pre>    x = (1\n        ^</pre>" in page
    assert "Not correct yet" not in page
    told = submission_text(report, week, escaped)
    sentence, _, code = BROKEN.partition("\n")
    assert told == f"{escaped(sentence)}\n\n{code}"  # indented: a code block in Markdown
