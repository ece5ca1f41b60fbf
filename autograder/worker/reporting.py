"""Capture the output of a submission, and describe its exceptions as plain data."""

import io
import os
import traceback

from .protocol import frames
from .stop_location import raising_frame, stopped_at

MAX_CHARACTERS = 4_000
MAX_MESSAGE = 2_000


class CapturedOutput(io.StringIO):
    """A text stream that stores the first `MAX_CHARACTERS` characters and ignores the rest."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        room = MAX_CHARACTERS - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)

    def close(self) -> None:
        """Do nothing, because the text must remain readable if the submission closes the stream."""

    def text(self) -> str:
        """Return the captured text, even if the submission patched methods of this object."""
        start = io.StringIO.getvalue(self)[:MAX_CHARACTERS]
        return start.encode("utf-8", "replace").decode("utf-8")


def stopped_import(error: BaseException, root: str) -> frames.Raised:
    """Describe an exception that stopped an import, with the file, line and column if known."""
    raised = described(error, root)
    try:
        file, line, column = stopped_at(error, root)
        message = str(error.msg) if isinstance(error, SyntaxError) else raised.message
    except BaseException:  # the submission's exception may have attributes that raise
        return raised
    message = message[:MAX_MESSAGE].encode("utf-8", "replace").decode("utf-8")
    return frames.Raised(raised.type, raised.bases, message, line, file[:MAX_MESSAGE], column)


def described(error: BaseException, root: str) -> frames.Raised:
    """Describe an exception by its classes, message and innermost line in a file in `root`."""
    line, raising = None, None
    while error.__cause__ is not None and type(error).__module__.startswith("triton."):
        error = error.__cause__  # Triton's interpreter wraps exceptions raised in a kernel
    try:
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename.startswith(root + os.sep):
                line = number
        if line is None and isinstance(error, SyntaxError) and error.lineno:
            line = error.lineno  # a file with a syntax error is never executed, so it has no frame
        raising = raising_frame(error)
        message = str(error)[:MAX_MESSAGE].replace(root, "")
    except BaseException as broken:  # the exception's own `__str__` may raise
        message = f"(its message could not be read: {type(broken).__name__})"
    bases = tuple(b.__name__[:100] for b in type(error).__mro__[:8])
    if raising is None or not raising.f_code.co_filename.startswith(root + os.sep):
        # a NotImplementedError raised by a library does not mean an unfinished exercise
        bases = tuple(b for b in bases if b != "NotImplementedError") or bases
    clean = message.encode("utf-8", "replace").decode("utf-8")
    return frames.Raised(type(error).__name__[:100], bases, clean, line)
