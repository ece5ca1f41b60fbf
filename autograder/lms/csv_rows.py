"""Read CSV files that people edit."""

from __future__ import annotations

import csv
from pathlib import Path

from ..model.errors import KitError


def read_rows(path: Path, *columns: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file, with cells and column names stripped.

    Raise KitError if the file cannot be read or lacks one of the columns.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [
                {name.strip(): (cell or "").strip() for name, cell in row.items() if name}
                for row in csv.DictReader(file)
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise KitError(f"{path}: cannot be read: {error}") from None
    if rows and not set(columns) <= rows[0].keys():
        named = " and ".join(f"`{column}`" for column in columns)
        raise KitError(f"{path}: needs the columns {named}")
    return rows
