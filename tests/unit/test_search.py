"""Test the effort of a search with and without lines that were located by values."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.grading.localization.repair_search import OrderedProbes, Search
from autograder.grading.running.pytest_plugin import Ran
from autograder.grading.targets.in_process import Target
from autograder.repair import Edit

EDITS = [Edit(1 + n // 3, "f", "operator", n / 1000, ()) for n in range(900)]
PLACE = ("f", 290)


@dataclass
class Versions:
    """Records the edits that are tried; the edits with these numbers fix everything."""

    fixing: set[int]
    tried: list[int] = field(default_factory=list)
    spent_share: float = 0.0

    def short(self, edit: Edit) -> Target | None:
        raise AssertionError("no probes are asked")

    def passes(self, edit: Edit) -> bool:
        self.tried.append(EDITS.index(edit))
        return self.tried[-1] in self.fixing

    def run(self, edit: Edit) -> list[Ran]:
        raise AssertionError("no edit fixes a part")


def searched(versions: Versions, told: frozenset[tuple[str, int]]) -> tuple[int, ...]:
    nothing = OrderedProbes([], 0, 0)
    search = Search("f", EDITS, [], nothing, versions, located=told)
    return tuple(EDITS.index(fix.edit) for fix in search.fixes())


def test_where_values_tell_a_line_all_of_it_is_tried_there_and_nothing_elsewhere() -> None:
    versions = Versions(fixing=set())
    assert searched(versions, frozenset({PLACE})) == ()
    assert {n for n, c in enumerate(EDITS) if PLACE in c.places} == {*versions.tried}


def test_where_values_tell_nothing_much_more_is_tried() -> None:
    versions = Versions(fixing=set())
    assert searched(versions, frozenset()) == ()
    assert 250 < len(versions.tried) < len(EDITS) / 2
    assert versions.tried == [*range(len(versions.tried))]


def test_a_change_that_mends_where_values_tell_stands_alone() -> None:
    told = EDITS.index(next(c for c in EDITS if PLACE in c.places))
    versions = Versions(fixing={0, told})
    assert searched(versions, frozenset({PLACE})) == (told,)


def test_what_mends_elsewhere_is_not_told_then() -> None:
    assert searched(Versions(fixing={0}), frozenset({PLACE})) == ()


def test_after_one_that_mends_little_more_is_tried() -> None:
    versions = Versions(fixing={0, 30})
    assert searched(versions, frozenset()) == (0, 30)
    assert len(versions.tried) < 120
