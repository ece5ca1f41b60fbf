"""Test that untrusted text is shown without invisible or control characters."""

from __future__ import annotations

import io
import sys
import unicodedata

import pytest
from rich.table import Table

from autograder.model.message_text import replaced, visible, visible_json
from autograder.terminal.console import Terminal
from autograder.terminal.streams import guard_streams


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\x9b1m", "a\\x9b1m"),
        ("tru\u202edy", "tru\\u202edy"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("line\u2028line", "line\\u2028line"),
        ("\udcff", "\\xff"),
        ("tag\U000e0041", "tag\\ue0041"),
        ("\x7f\r\n\t", "\\x7f\\x0d\\x0a\\x09"),
    ],
)
def test_a_character_that_acts_is_named(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", ["Zoë Müller", "李小龍", "محمد", "ada 🙂 ✓", "O'Neil-Søren", "a\\b"]
)
def test_an_honest_name_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_no_character_of_a_kind_that_acts_is_left_out() -> None:
    """Cover control, format, separator and surrogate characters by their Unicode categories."""
    acting = ("Cc", "Cf", "Zl", "Zp", "Cs")
    every = map(chr, range(sys.maxunicode + 1))
    left = {c for c in every if unicodedata.category(c) in acting and visible(c) == c}
    # visible or joining characters of Arabic, Syriac, Kaithi, hieroglyphs and shorthand
    seen = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
    assert {c for c in left if not _within(c, seen)} <= set(map(chr, range(0x13430, 0x1BCA4)))


def _within(character: str, spans: str) -> bool:
    import re

    return re.fullmatch(f"[{spans}]", character) is not None


def test_json_keeps_its_meaning() -> None:
    import json

    text = json.dumps("\x1b\x9b\u202e\U000e0041\udc80"[:4], ensure_ascii=False)
    assert json.loads(visible_json(text)) == json.loads(text)


def test_a_page_shows_one_sign() -> None:
    assert replaced("a\x1bb\nc") == "a\N{REPLACEMENT CHARACTER}b\nc"


def test_a_table_of_a_terminal_obeys_nothing_and_reads_no_markup() -> None:
    out = io.StringIO()
    table = Table(title="\x1b[2J")
    table.add_column("[b]\x1b]0;x\x07")
    table.add_row("[red]x[/red] :smile: \u202e")
    Terminal(file=out, force_terminal=True, width=80, color_system="truecolor").print(table)
    said = out.getvalue()
    assert "[red]x[/red] :smile: \\u202e" in said
    assert "\x1b[2J" not in said
    assert "\x1b]0" not in said


def test_what_is_printed_obeys_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    guard_streams()
    guard_streams()
    print("\x1b[2J", end="")
    print("\x9b\nx", file=sys.stderr)
    assert (out.getvalue(), err.getvalue()) == ("\\x1b[2J", "\\x9b\nx\n")
