"""Test interactive pages by keyboard, in a real browser and in JupyterLab."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.courses import PROJECT
from tests.e2e_browser.conftest import jupyterlab
from tests.e2e_browser.test_submit_page import AXE, PHONE, complaints

ASSETS = PROJECT / "assets"


@pytest.fixture
def opened(browser_page: Page) -> Any:
    """Open a page by itself; its scripts must not fail."""

    def opened(name: str) -> Page:
        browser_page.on("pageerror", lambda error: pytest.fail(f"{name}: {error}"))
        browser_page.goto((ASSETS / name).as_uri())
        return browser_page

    return opened


def test_a_colder_softmax_by_the_arrow_keys(opened: Any) -> None:
    page = opened("temperature.html")
    expect(page.locator("#told")).to_contain_text("Largest weight 0.58")
    page.keyboard.press("Tab")
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#value")).to_have_text("0.251")
    expect(page.locator("#told")).to_contain_text("Largest weight 0.99")


def test_rows_without_keys_by_the_keyboard(opened: Any) -> None:
    page = opened("masks.html")
    expect(page.locator("#told")).to_contain_text("Every query sees")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")  # hide padded queries too
    expect(page.locator("#told")).to_contain_text("2 of 5 queries see no key")


def test_a_query_of_a_head_by_the_keyboard(opened: Any) -> None:
    page = opened("heads.html")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#told")).to_contain_text("Head 2 gives most, 1.00, to b at place 2: 2 pl")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(page.locator("#told")).to_contain_text("to a at place 1: itself")


def test_blocks_one_by_one_by_the_keyboard(opened: Any) -> None:
    page = opened("tiles.html")
    page.locator("#next").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    expect(page.locator("#next")).to_be_disabled()
    expect(page.locator("#kept tr").first).to_contain_text("1.85")
    expect(page.locator("#told")).to_contain_text("logsumexp of query 0 is 4.615")


def test_the_score_stays_when_key_and_query_move_together(opened: Any) -> None:
    page = opened("rotary.html")
    expect(page.locator("#told")).to_contain_text("Query at 3, key at 0: score 0.13")
    page.keyboard.press("Tab")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#told")).to_contain_text("Query at 13, key at 10: score 0.13")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(page.locator("#told")).to_contain_text("Query at 10, key at 10: score 1.80")


def test_vectors_at_180_degrees_never_share_a_bucket(opened: Any) -> None:
    page = opened("buckets.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(page.locator("#told")).to_contain_text(
        "in 4 of 4 rounds. Probability in one round: 1.00"
    )
    page.keyboard.press("End")
    page.locator("#spin").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
        expect(page.locator("#told")).to_contain_text("in 0 of 4 rounds")
    expect(page.locator("#told")).to_contain_text("in at least one of 4: 0.00")


def test_a_window_limits_its_cache(opened: Any) -> None:
    page = opened("windows.html")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    told = page.locator("#told")
    expect(told).to_contain_text("20 keys from the full cache, and 5 from the cache with a window")
    expect(told).to_contain_text("Positions 0 to 14 are lost")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    expect(told).to_have_text(re.compile("and 20 from the cache with a window.$"))


def test_with_small_pages_no_sequence_waits(opened: Any) -> None:
    page = opened("paging.html")
    expect(page.locator("#told")).to_contain_text("28 slots wasted, 0 free. D must wait")
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    for _ in range(4):
        expect(page.locator("#told")).to_contain_text("Every sequence has room.")
        page.keyboard.press("ArrowRight")
    expect(page.locator("#event")).to_have_text("8: A ends")


def test_a_draft_equal_to_the_model_is_always_accepted(opened: Any) -> None:
    page = opened("speculation.html")
    expect(page.locator("#told")).to_contain_text("55% of the drafted tokens are accepted")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    expect(page.locator("#told")).to_have_text("100% of the drafted tokens are accepted.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [path.stem for path in sorted(ASSETS.glob("*.html"))])
def test_it_has_no_fault_on_a_phone(opened: Any, screenshots: Path, name: str, scheme: str) -> None:
    page = opened(f"{name}.html")
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme=scheme)
    page.screenshot(path=screenshots / f"explore_{name}_{scheme}.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert complaints(page) == []


def test_without_scripts_it_points_to_the_figure(browser_page: Page) -> None:
    context = browser_page.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((ASSETS / "temperature.html").as_uri())
    assert "The figure in the lesson" in page.locator("body").inner_text()
    context.close()


def test_in_jupyterlab_it_has_the_notebooks_data(
    browser_page: Page, tmp_path: Path, screenshots: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "temperature.html").write_bytes((ASSETS / "temperature.html").read_bytes())
    source = 'from autograder import explore\nexplore("temperature.html", scores=[0.0, 0.0])'
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source)], metadata={"kernelspec": kernel}
    )
    nbformat.write(notebook, work / "play.ipynb")
    expect.set_options(timeout=90_000)  # a kernel has to start
    with jupyterlab(tmp_path / "home", work) as lab:
        page = browser_page
        page.goto(lab.page("/tree/play.ipynb"))
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
        page.locator(".jp-NotebookPanel .jp-Cell").first.click()
        page.keyboard.press("Shift+Enter")
        frame = page.frame_locator(".jp-OutputArea-output iframe")
        expect(frame.locator("#told")).to_contain_text("Largest weight 0.50")
        frame.locator("#knob").focus()
        page.keyboard.press("ArrowRight")
        expect(frame.locator("#value")).to_have_text("1.12")
        page.screenshot(path=screenshots / "explore_lab.png")
