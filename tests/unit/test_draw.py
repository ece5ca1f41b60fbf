"""Test that a searched input is found again for a draw at the same position."""

from __future__ import annotations

import torch

from autograder.grading.assertions.inputs import Draw


class Search:
    """Draws until a condition is met; counts its calls."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.asked = draw, 0

    def __call__(self) -> torch.Tensor:
        self.asked += 1
        while True:
            x = self.draw.normal(4)
            if bool(x[0] > 1):
                return x


def searched(test: str, *given: str) -> tuple[Search, torch.Tensor, torch.Tensor]:
    """Return the search, its result and the next draw."""
    draw = Draw(b"secret", test, "float32")
    search = Search(draw)
    return search, draw.found(search, *given), draw.normal(3)


def test_what_was_found_is_not_searched_again_and_the_draw_goes_on_behind_it() -> None:
    first, x, after = searched("again")
    second, same, like_after = searched("again")
    assert (first.asked, second.asked) == (1, 0)
    assert torch.equal(x, same)
    assert torch.equal(after, like_after)


def test_it_is_what_a_search_finds_without_it() -> None:
    _, x, after = searched("plain")
    draw = Draw(b"secret", "plain", "float32")
    assert torch.equal(x, Search(draw)())
    assert torch.equal(after, draw.normal(3))


def test_another_test_or_another_thing_given_is_another_search() -> None:
    searched("given", "a")
    other, _, _ = searched("given", "b")
    elsewhere, _, _ = searched("given elsewhere", "a")
    assert other.asked == elsewhere.asked == 1


def test_who_writes_into_what_was_found_spoils_it_for_nobody() -> None:
    _, x, _ = searched("written into")
    right = x.clone()
    x.zero_()
    assert torch.equal(searched("written into")[1], right)
