"""Rich's console, and its progress bar, for what a command says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn
from rich.segment import Segment
from rich.text import Text

from ..model.visible import visible
from .streams import ShownStream


class Terminal(Console):
    """Rich's console, in which a text is a text: no markup, no sequence, no `:emoji:`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    @property
    def file(self) -> IO[str]:
        found = super().file
        return found.behind if isinstance(found, ShownStream) else found

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render_str(self, text: str, **options: Any) -> Text:
        """Made visible before it is laid out, so that columns stay in line."""
        return super().render_str(visible(text, keep="\t\n"), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield segment._replace(text=visible(segment.text, keep="\n"))


def terminal(**options: Any) -> Terminal:
    """A console for what a command says."""
    return Terminal(**options)


def bar(*columns: ProgressColumn) -> Progress:
    """A progress bar on standard error, which leaves other lines to the guarded streams."""
    console = terminal(stderr=True)
    return Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
