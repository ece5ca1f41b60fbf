"""Interactive pages in a notebook, with the notebook's data."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from autograder import explore
from autograder.model.course import load

PROJECT = load(Path(__file__).resolve().parents[2])
PAGES = [f for w in PROJECT.weeks for f in w.files if f.endswith(".html")]
ASSETS = PROJECT.root / "assets"


def framed(page: object) -> str:
    """Return the page inside the frame."""
    found = re.search(r'srcdoc="([^"]*)"', page._repr_html_())  # type: ignore[attr-defined]
    assert found is not None
    return html.unescape(found[1])


def data_of(text: str) -> dict:
    return json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])


@pytest.mark.parametrize("name", PAGES)
def test_without_data_a_page_has_its_own(name: str) -> None:
    assert framed(explore(name, ASSETS)) == (ASSETS / name).read_text(encoding="utf-8")


def test_data_of_the_notebook_takes_its_place() -> None:
    page = explore("temperature.html", ASSETS, scores=[1.0, 2.0])
    assert data_of(framed(page)) == {"scores": [1.0, 2.0]}


def test_data_cannot_leave_its_place() -> None:
    page = explore("heads.html", ASSETS, tokens=["</script><script>alert(1)"], weights=[[[1.0]]])
    assert data_of(framed(page))["tokens"] == ["</script><script>alert(1)"]
    assert "<script>alert" not in framed(page)


def test_where_nothing_is_drawn_it_says_what_to_do() -> None:
    assert repr(explore("tiles.html", ASSETS)).endswith("open tiles.html in a browser)")


def test_a_page_that_is_missing_is_no_error(tmp_path: Path) -> None:
    assert "is not in this folder" in explore("temperature.html", tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_needs_no_network_and_says_so_without_scripts(name: str) -> None:
    text = (ASSETS / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://|@import|\bsrc=", text)
    assert "<noscript>" in text


def test_a_sequence_in_pages_wastes_less_than_a_page() -> None:
    data = data_of((ASSETS / "paging.html").read_text(encoding="utf-8"))
    for unit, pools in data["units"].items():
        for pool in (text.split()[0] for text in pools):
            assert len(pool) == 48
            for name in set(pool.upper()) - {"."}:
                taken = pool.upper().count(name)
                assert taken % int(unit) == 0
                assert pool.count(name) > taken - int(unit)
