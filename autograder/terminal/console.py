"""A rich console and progress bar for the output of commands."""

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn
from rich.segment import Segment
from rich.text import Text

from ..model.message_text import visible
from .streams import GuardedStream


class Terminal(Console):
    """A console that interprets no markup, no escape sequences and no `:emoji:` in text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    @property
    def file(self) -> IO[str]:
        found = super().file
        return found.wrapped if isinstance(found, GuardedStream) else found

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape control characters before rich computes widths, so that columns stay aligned."""
        return super().render_str(visible(text, keep="\t\n"), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield segment._replace(text=visible(segment.text, keep="\n"))


def bar(*columns: ProgressColumn) -> Progress:
    """Return a progress bar on standard error that does not redirect other output."""
    return Progress(
        *columns,
        console=Terminal(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
