"""Test nbgrader's timestamps."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from autograder.model.submission_files import format_timestamp, local_text, parse_timestamp

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


@pytest.mark.parametrize("stored", [TIMESTAMP, "2027-01-20T12:00:31+00:00"])
def test_shows_a_stored_time_in_the_time_zone_of_the_course(stored: str) -> None:
    assert local_text(stored, ZoneInfo("Europe/Zurich")) == "2027-01-20 13:00 CET"


@pytest.mark.parametrize("text", ["", "UTC", "yesterday"])
def test_returns_none_if_the_text_is_not_a_time(text: str) -> None:
    assert parse_timestamp(text) is None
