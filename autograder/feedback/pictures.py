"""Small pictures of how a result should look.

The lesson shows them too: a shape, not an answer. A week's pictures are in
`exercises/<week>/pictures.yaml`, as rows of squares.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from markupsafe import Markup

from ..model.course import Course, Week
from ..model.errors import CourseError

FILE = "pictures.yaml"
_SIDE = 16


class Picture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows of squares, `#` filled and `.` empty, with a caption."""

    caption: str
    squares: tuple[Annotated[str, msgspec.Meta(pattern=r"^[#.]+$")], ...]


def pictures(course: Course, week: Week) -> dict[str, tuple[Markup, str]]:
    """Return the SVG and the caption of each exercise of the week with a picture."""
    path = course.exercise_folder(week) / FILE
    try:
        drawn = msgspec.yaml.decode(path.read_bytes(), type=dict[str, Picture])
    except FileNotFoundError:
        return {}
    except msgspec.MsgspecError as error:
        raise CourseError(f"{path.relative_to(course.root)}: {error}") from None
    return {name: (_drawn(picture), picture.caption) for name, picture in drawn.items()}


def _drawn(picture: Picture) -> Markup:
    squares = []
    for y, row in enumerate(picture.squares):
        for x, square in enumerate(row):
            kind = "seen" if square == "#" else "hidden"
            squares.append(
                Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
                    kind, 1 + x * _SIDE, 1 + y * _SIDE, _SIDE - 2, _SIDE - 2
                )
            )
    width, height = _SIDE * max(map(len, picture.squares)), _SIDE * len(picture.squares)
    return Markup('<svg role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}">{}</svg>').format(
        picture.caption, width, height, width, Markup("").join(squares)
    )
