"""Render untrusted Markdown and HTML as harmless HTML.

Theory of operation. The author of the text may try to act in the reader's browser, which may be
logged in to Jupyter with the instructor's rights, or may try to make rendering take forever. Size
limits and two independent filters prevent this:

1. markdown-it renders the text with raw HTML disabled, so HTML is shown as typed. Only http, https
   and mailto links become links. Only pictures attached to the cell or released with the week are
   shown, and they are embedded. SVG comes only from the week and cannot run scripts or load files.
2. nh3 parses the result as a browser would and drops every element, attribute and address that is
   not listed below: no script, style, frame, form, id, class or event handler.

Formulas are converted to MathML here, so that no page needs a script. The converter escapes text,
and the second filter applies to its output as well.

The pages add a third layer of protection: a Content-Security-Policy that forbids scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import nh3
from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer

from ..model.course.validation import split_url

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Pictures = Callable[[str], str | None]
"""Maps the address of a picture to a data: address, or to None if it must not be shown."""

SCHEMES = frozenset({"http", "https", "mailto"})
_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")
_MAX_TEXT, _MAX_FORMULA = 32 << 10, 2000
_MAX_TABLES, _MAX_COLUMNS, _MAX_ENVIRONMENTS = 20, 40, 40
_TABLE = re.compile(r"^[ \t>]*+\|?[ \t]*+:?-[ \t:|-]*+$", re.MULTILINE)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEXT = _names(
    """p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a img table thead tbody tr
    th td div span"""
)
_MATH = _names(
    """math mrow mi mn mo ms mspace mtext mfrac msqrt mroot mstyle msub msup msubsup munder mover
    munderover mmultiscripts mprescripts mtable mtr mtd mpadded mphantom"""
)
_MATH_ATTRIBUTES = _names(
    """display displaystyle scriptlevel mathvariant stretchy fence form separator linethickness
    accent accentunder lspace rspace width height depth minsize maxsize columnalign largeop
    movablelimits symmetric"""
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    **{tag: set(_MATH_ATTRIBUTES) for tag in _MATH},
}
_STYLES = _names(
    """font-family line-height max-width overflow-wrap margin padding padding-left border-left
    white-space"""
)


def _filter_attribute(tag: str, attribute: str, value: str) -> str | None:
    """Return the attribute's value, or None if nh3 must drop the attribute."""
    if attribute == "href":
        return value if split_url(value).scheme in SCHEMES else None
    if attribute == "src":
        return value if _DATA.fullmatch(value) else None
    if attribute == "class":
        return value if re.fullmatch(r"[a-z][a-z0-9]{0,2}|highlight", value) else None
    return value


_MARKDOWN = nh3.Cleaner(
    tags=set(_TEXT | _MATH),
    attributes=_ATTRIBUTES,
    attribute_filter=_filter_attribute,
    url_schemes=SCHEMES | {"data"},
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)
_EXPLANATION = nh3.Cleaner(
    tags={"div", "p", "ul", "li", "strong", "code", "span", "small"},
    attributes={"*": {"style", "aria-hidden"}},
    filter_style_properties=set(_STYLES),
    url_schemes=set(),
    link_rel=None,
)
_HIGHLIGHTED = nh3.Cleaner(
    tags={"div", "pre", "span"},
    attributes={"*": {"class"}},
    attribute_filter=_filter_attribute,
    url_schemes=set(),
    link_rel=None,
)


def markdown(text: str, pictures: Pictures = lambda address: None, *, below: int = 0) -> Markup:
    """Render Markdown as harmless HTML; text that is too expensive to parse is shown as typed.

    below: number of levels by which headings are lowered.
    """
    if len(text) > _MAX_TEXT:
        return plain(text)
    columns = max((row.group().count("|") for row in _TABLE.finditer(text)), default=0)
    tables = len(_TABLE.findall(text)) <= _MAX_TABLES and columns <= _MAX_COLUMNS
    environments = text.count("\\begin") <= _MAX_ENVIRONMENTS
    try:
        shown = _renderer(tables, environments).render(text, {"pictures": pictures, "below": below})
    except Exception:  # hostile text may trigger any bug in the renderer
        return plain(text)
    return harmless(shown)


def harmless(shown: str) -> Markup:
    """Remove scripts, external resources, and markup that could imitate parts of the page."""
    return Markup(_MARKDOWN.clean(shown))  # safe: sanitized


def harmless_explanation(shown: str) -> Markup:
    """Sanitize the kit's HTML output in a notebook cell; keep text and a few inline styles."""
    return Markup(_EXPLANATION.clean(shown))  # safe: sanitized


def code(source: str) -> Markup:
    """Highlight Python code with spans of one short class each; show long code as plain text.

    Long runs of blank lines are shortened, because highlighting them takes quadratic time.
    """
    if len(source) > _MAX_TEXT:
        return plain(source)
    text = re.sub(r"\n{4,}", "\n\n\n", "\n".join(map(str.rstrip, source.splitlines())))
    shown = highlight(text, PythonLexer(), HtmlFormatter())
    return Markup(_HIGHLIGHTED.clean(shown))  # safe: sanitized


@cache
def code_styles() -> Markup:
    """Return styles for highlighted code, with enough contrast on light and dark backgrounds."""
    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return Markup(f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}")  # from pygments


def plain(text: str) -> Markup:
    """Return HTML that shows the text as typed."""
    return Markup("<pre>{}</pre>").format(text)


def embedded(kind: str, data: Any) -> str | None:
    """Return a data: URL of a base64-encoded picture, or None if its type or data is invalid."""
    if not isinstance(data, str):
        return None
    address = f"data:{kind};base64,{''.join(data.split())}"
    return address if _DATA.fullmatch(address) else None


@cache
def _renderer(tables: bool, environments: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    renderer = MarkdownIt("commonmark", {"html": False})
    renderer.enable(["strikethrough", *(["table"] if tables else [])])
    renderer.use(dollarmath_plugin, allow_labels=False, double_inline=True)
    if environments:
        renderer.use(amsmath_plugin)
    # links, attachments, and relative names of released pictures
    allowed = SCHEMES | {"attachment", ""}
    renderer.validateLink = lambda address: split_url(address).scheme in allowed  # type: ignore[method-assign, assignment]  # public API
    for rule in ("heading_open", "heading_close"):
        renderer.add_render_rule(rule, _heading)
    renderer.add_render_rule("image", _image)
    for rule in ("math_inline", "math_inline_double", "math_block", "amsmath"):
        renderer.add_render_rule(rule, _formula)
    return renderer


def _heading(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    level = min(6, int(token.tag[1:]) + env["below"])
    return f"<{'/' if token.nesting < 0 else ''}h{level}>" + ("\n" if token.nesting < 0 else "")


def _image(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    described = renderer.renderInlineAsText(token.children or [], options, env)
    address = env["pictures"](str(token.attrs.get("src", "")))
    if address is None:
        return str(Markup("<span>[picture not shown: {}]</span>").format(described))
    return str(Markup('<img src="{}" alt="{}">').format(address, described))


def _formula(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    return formula(token.content, "inline" if token.type == "math_inline" else "block")


def formula(tex: str, display: str) -> str:
    """Convert a formula to MathML, or show it as typed if it cannot be converted."""
    from math_core import LatexToMathML

    converter = LatexToMathML(fancy_error=False)
    try:
        if len(tex) > _MAX_FORMULA:
            raise ValueError("the formula is too long")
        mathml = converter.convert_with_local_state(tex, displaystyle=display == "block")
    except Exception:  # a formula may trigger any bug in the converter
        return str(Markup("<code>{}</code>").format(tex))
    # browsers clip long braces: page.css draws a line instead, and Firefox needs the room below it
    return mathml.replace("<mo>⏟</mo>", '<mspace height="0.4em"></mspace>')
