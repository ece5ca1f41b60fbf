"""Build the search page of the students' site: the text of its pages, and a script.

The page works without a server. Its policy allows no script but this one. It contains only text
that the week pages show unfolded, and the leak check has examined these.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files as resources

from markupsafe import Markup

from ..model.course import Course, Week
from ..pages.environment import environment

_LESSON = re.compile(r'<div class="lesson">(.*)</main>', re.DOTALL)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)  # the result must not show a hint
_BLOCK = re.compile(r"(?=</(?:td|th|p|h\d|li|div|math)>)")
_SECTION = re.compile(r'<h[1-3](?: id="([^"]+)")?>(.*?)</h[1-3]>', re.DOTALL)
_TASK = re.compile(r'<div class="task" id="([^"]+)">(.*?)</div>', re.DOTALL)


def search_page(course: Course, pages: Mapping[Week, str]) -> str:
    """Return the page that searches these weeks' pages."""
    index = [entry for week, page in pages.items() for entry in _entries(week, page)]
    script = (resources(__package__) / "templates" / "search.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = environment("site").get_template("search.html.j2")
    return template.render(course=course, index=index, script=Markup(script), digest=digest)


def _entries(week: Week, page: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the week, title, address and text of each section and each task of a lesson."""
    heading, address = f"Week {int(week.name[4:6])} · {week.title}", f"{week.name}/index.html"
    lesson = _FOLDED.sub("", "".join(_LESSON.findall(page)))
    _, *sections = _SECTION.split(_TASK.sub("", lesson))
    for anchor, title, text in zip(*[iter(sections)] * 3, strict=True):
        yield heading, _plain(title), f"{address}#{anchor or ''}", _plain(text)
    for anchor, text in _TASK.findall(lesson):
        title, _, rest = text.partition("</strong>")
        yield heading, _plain(title), f"{address}#{anchor}", _plain(rest)


def _plain(text: str) -> str:
    return Markup(_BLOCK.sub(" ", text)).striptags()  # only reads the text
