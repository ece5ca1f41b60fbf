"""Output shared by the commands: progress bars, tables, problems, lists of names, and files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from ..files import replace_file
from ..model.errors import KitError
from ..model.message_text import first_names
from ..terminal.console import Terminal, bar


@contextmanager
def counting(description: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error; yield a function that advances the bar by one.

    The bar starts with the first call, because its thread must not exist when processes are forked.
    """
    columns = TextColumn(description), BarColumn(), MofNCompleteColumn()
    progress = bar(*columns, TimeElapsedColumn(), TimeRemainingColumn())
    task = progress.add_task("", total=total)

    def advance() -> None:
        progress.start()
        progress.advance(task)

    try:
        yield advance
    finally:
        progress.stop()


def print_attention(lines: Iterable[str], mark: str = "LOOK") -> bool:
    """Print each line with the prefix `mark`; return True if there are no lines."""
    lines = list(lines)
    for line in lines:
        print(f"{mark}  {line}")
    return not lines


def print_checks(checks: Iterable[tuple[bool, str, str]]) -> bool:
    """Print checks, given as (ok, result, remedy), and return True if all are ok."""
    console, all_ok = Terminal(soft_wrap=True), True
    for ok, result, remedy in checks:
        all_ok &= ok
        console.print(f"  {'ok' if ok else '--'}   {result}")
        if not ok and remedy:
            console.print(f"       {remedy}")
    return all_ok


def new_table(*columns: str, title: str = "") -> Table:
    """Return a table, with borders if it has a title. A leading `>` right-aligns the column."""
    plain = Table(box=None, pad_edge=False, collapse_padding=True)
    table = Table(title=title, title_justify="left") if title else plain
    for heading in columns:
        if heading.startswith(">"):
            table.add_column(heading[1:], justify="right")
        else:
            table.add_column(heading, overflow="fold", no_wrap=not table.columns)
    return table


def write_output(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file atomically, or write to a pipe or terminal; raise KitError if that fails."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            replace_file(path, data, mode)
    except OSError as error:
        raise KitError(f"{path} cannot be written: {error.strerror}") from None


def counted(names: Sequence[str]) -> str:
    """Format names as their number and the first few of them, such as `2 (ada, bob)`."""
    return f"{len(names)} ({first_names(names, 8)})"
