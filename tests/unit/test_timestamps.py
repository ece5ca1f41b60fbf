"""Test nbgrader's timestamps."""

from __future__ import annotations

import datetime as dt

import pytest

from autograder.model.submission_files import format_timestamp, parse_timestamp

NOON = dt.datetime(2027, 1, 20, 12, tzinfo=dt.UTC)
TIMESTAMP = "2027-01-20 12:00:00.000000 UTC"


@pytest.mark.parametrize(
    "moment",
    [NOON, NOON.replace(tzinfo=None), NOON.astimezone(dt.timezone(dt.timedelta(hours=5)))],
)
def test_formats_a_time_in_utc(moment: dt.datetime) -> None:
    assert format_timestamp(moment) == TIMESTAMP


@pytest.mark.parametrize("text", [TIMESTAMP, "2027-01-20 12:00:00", "2027-01-20T13:00+01:00"])
def test_parses_a_time_as_aware(text: str) -> None:
    assert parse_timestamp(text) == NOON


@pytest.mark.parametrize("text", ["", "UTC", "yesterday"])
def test_returns_none_if_the_text_is_not_a_time(text: str) -> None:
    assert parse_timestamp(text) is None
