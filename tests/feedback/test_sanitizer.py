"""Test the sanitizer without a browser: untrusted text is shown but stays inert."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from autograder.nbgrader.formgrader.submitted_cells import rendered_cells
from autograder.pages.markdown import formula, harmless, harmless_explanation, markdown
from tests.hostile.payloads import hostile_notebook, payloads

TEXTS = payloads()
WORDS = (
    "p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a img table thead tbody tr "
    "th td div span math mrow mi mn mo mtext mtable mtr mtd mstyle"
)
PICTURE = base64.b64encode(b"\x89PNG").decode()


class Seen(HTMLParser):
    """Collects the tags that a browser would turn into elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    @property
    def faults(self) -> list[str]:
        return [
            f"<{tag} {name}={value}>"
            for tag, attributes in self.elements
            for name, value in [("", ""), *attributes.items()]
            if tag not in WORDS.split() or _acts(name, value)
        ]


def _acts(name: str, value: str) -> bool:
    if name == "href":
        return not re.match(r"(?:https?|mailto):", value)
    if name == "src":
        return not value.startswith("data:image/png;base64,")
    return name.startswith(("on", "data-", "xlink", "form")) or name in (
        ["style", "id", "name", "srcset", "srcdoc", "action", "nonce", "background"]
    )


def test_the_payloads_act_where_they_are_shown_as_nbgrader_does() -> None:
    # a picture that is not attached stops its page
    texts = {name: text for name, text in TEXTS.items() if "attachment:" not in text}
    shown = {name: Seen(markdown2html_mistune(text)).faults for name, text in texts.items()}
    assert len([name for name, faults in shown.items() if faults]) > 90


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_markdown_of_a_stranger_holds_nothing_that_acts(text: str) -> None:
    assert Seen(markdown(text)).faults == []


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_sanitizer_lets_nothing_through_that_acts(text: str) -> None:
    """Test the sanitizer alone, as if the earlier checks had let the input pass."""
    assert Seen(harmless(text)).faults == []


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_explanation_that_was_forged_holds_nothing_that_acts(text: str) -> None:
    elements = Seen(harmless_explanation(text)).elements
    assert {tag for tag, _ in elements} <= {"div", "p", "ul", "li", "strong", "code", "span"}
    assert {name for _, found in elements for name in found} <= {"style", "aria-hidden"}
    assert not [a for _, a in elements if re.search(r"url|expression|position", a.get("style", ""))]


def test_no_kind_of_cell_output_attachment_or_metadata_acts(tmp_path: Path) -> None:
    from nbformat import v4

    answer = v4.new_markdown_cell(metadata={"nbgrader": {"solution": True, "grade_id": "why"}})
    graded = v4.new_code_cell(metadata={"nbgrader": {"grade": True, "grade_id": "double"}})
    cells = rendered_cells(
        hostile_notebook(v4.new_notebook(cells=[answer, graded])).cells, tmp_path
    )
    assert len(cells) > 300
    shown = [part for cell in cells for part in (cell.text, *cell.outputs)]
    assert [fault for part in shown for fault in Seen(part).faults] == []


@pytest.mark.parametrize(
    "address", ["https://arxiv.org/abs/1706.03762", "http://x.example/", "mailto:ada@x.example"]
)
def test_an_honest_link_stays(address: str) -> None:
    ((_, attributes),) = [e for e in Seen(markdown(f"[paper]({address})")).elements if e[0] == "a"]
    assert attributes["href"] == address
    assert "noopener" in attributes["rel"]


def test_a_picture_that_was_attached_is_shown() -> None:
    address = f"data:image/png;base64,{PICTURE}"
    shown = markdown("![mine](attachment:a.png)", {"attachment:a.png": address}.get)
    assert f'<img src="{address}" alt="mine">' in shown


def test_a_remote_picture_is_named_and_not_loaded() -> None:
    assert "[picture not shown: mine]" in markdown("![mine](https://x.example/a.png)")


def test_raw_html_is_shown_as_it_was_typed() -> None:
    assert "&lt;b&gt;x&lt;/b&gt;" in markdown("<b>x</b>")


def test_a_formula_is_typeset_without_a_script() -> None:
    shown = markdown(r"so $\frac{q^\top k}{\sqrt{d_k}}$ holds")
    assert "<mfrac>" in shown
    assert "<msqrt>" in shown


def test_a_formula_that_cannot_be_read_is_shown_as_it_was_typed() -> None:
    assert formula(r"\frac{", "inline") == r"<code>\frac{</code>"


def test_the_formulas_of_every_lesson_can_be_read() -> None:
    lessons = (Path(__file__).parents[2] / "exercises").glob("*/lesson.md")
    texts = [re.sub(r"```.*?```|`[^`\n]*`", "", p.read_text("utf-8"), flags=re.S) for p in lessons]
    found = [m[1] or m[2] for t in texts for m in re.finditer(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", t)]
    assert len(found) > 100
    assert [f for f in found if formula(f, "inline").startswith("<code>")] == []


FLOODS = {
    "brackets": "[" * 32000,
    "pictures": "![" * 16000,
    "stars": "*a " * 10000,
    "quotes": ">" * 32000,
    "environments": "\\begin{align}\n" * 2200,
    "tables": ("|a" * 40 + "|\n" + "|-" * 40 + "|\n" + "|\n" * 300) * 60,
    "wide": "|a" * 5000 + "|\n" + "|-" * 5000 + "|\n" + "|\n" * 2000,
    "braces": "$" + "{" * 1900 + "$",
    "fractions": "$" + "\\frac" * 380 + "$",
    "formulas": "$a$ " * 8000,
    "long": "a *b* [c](d) " * 100000,
}


@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS)
def test_a_flood_becomes_no_larger_flood(text: str) -> None:
    """Check that large input stays small; without limits this takes minutes or all memory."""
    assert len(markdown(text)) < 50 * len(text)
