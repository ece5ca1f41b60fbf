"""Markdown and HTML of strangers, made fit for a page that somebody trusts.

Theory of operation. Whoever wrote the text may want to act in the reader's browser, which may be
logged in to Jupyter with the instructor's rights, or may want the page to take for ever. So there
are two walls in a row, each of which holds without the other, and a bound on the work:

1. markdown-it reads the text with raw HTML switched off (it is shown as typed). A link stays a link
   only to http, https and mailto; a picture only if it was attached to the cell or handed out with
   the week, and then it is embedded. An SVG comes from the week alone; as a picture it can neither
   run nor load anything. Everything else is shown as it was typed.
2. nh3 reads what came of that, as a browser would, and drops every element, attribute and address
   that is not on the lists below: no script, style, frame, form, id, class or event handler.

Formulas become MathML here, so no page needs a script for them. The converter does not escape
text, so its answer must be well-formed XML, and is rebuilt from the elements below.

The pages themselves add a third wall: a Content-Security-Policy that lets no script run.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import nh3
from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Pictures = Callable[[str], str | None]
"""From the address of a picture to what stands in its place, a data: address; or None."""

SCHEMES = frozenset({"http", "https", "mailto"})
_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")
_LONGEST, _LONGEST_FORMULA, _LONGEST_CODE = 32 << 10, 2000, 256 << 10
_MANY_TABLES, _MANY_COLUMNS, _MANY_ENVIRONMENTS = 20, 40, 40
_TABLE = re.compile(r"^[ \t>]*\|?[ \t]*:?-[ \t:|-]*$", re.MULTILINE)


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


def markdown(text: str, pictures: Pictures = lambda address: None, *, below: int = 0) -> Markup:
    """Markdown as harmless HTML; what takes too long to read as Markdown is shown as typed.

    Its headings come that many levels `below` the page's first.
    """
    if len(text) > _LONGEST:
        return plain(text)
    columns = max((row.group().count("|") for row in _TABLE.finditer(text)), default=0)
    tables = len(_TABLE.findall(text)) <= _MANY_TABLES and columns <= _MANY_COLUMNS
    environments = text.count("\\begin") <= _MANY_ENVIRONMENTS
    try:
        shown = _reader(tables, environments).render(text, {"pictures": pictures, "below": below})
    except Exception:  # whatever a stranger's text makes the reader stumble over
        return plain(text)
    return harmless(shown)


def harmless(shown: str) -> Markup:
    """HTML without anything that could act, load, or pass itself off as a part of the page."""
    return Markup(_markdown_cleaner().clean(shown))  # the sanitizer's answer


def harmless_explanation(shown: str) -> Markup:
    """Our explanation in a notebook's cell, as it was stored: text with a few inline styles."""
    return Markup(_explanation_cleaner().clean(shown))  # the sanitizer's answer


def code(source: str) -> Markup:
    """Python with its highlighting, which is spans of one short class each."""
    if len(source) > _LONGEST_CODE:
        return plain(source)
    shown = highlight(source, PythonLexer(), HtmlFormatter())
    return Markup(_code_cleaner().clean(shown))  # the sanitizer's answer


@cache
def code_styles() -> Markup:
    """Styles of highlighted code, with enough contrast on light and on dark."""
    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return Markup(f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}")  # pygments' own


def plain(text: str) -> Markup:
    """Text as it was typed."""
    return Markup("<pre>{}</pre>").format(text)


def embedded(kind: str, data: Any) -> str | None:
    """A picture's data: address, or None if it is no picture."""
    if not isinstance(data, str):
        return None
    address = f"data:{kind};base64,{''.join(data.split())}"
    return address if _DATA.fullmatch(address) else None


def _keep(tag: str, attribute: str, value: str) -> str | None:
    """The value of an attribute that is on the lists, or None."""
    if attribute == "href":
        return value if _scheme(value) in SCHEMES else None
    if attribute == "src":
        return value if _DATA.fullmatch(value) else None
    if attribute == "class":
        return value if re.fullmatch(r"[a-z][a-z0-9]{0,2}|highlight", value) else None
    return value


def _scheme(address: str) -> str:
    try:
        return urlsplit(address).scheme.lower()
    except ValueError:
        return ""


@cache
def _markdown_cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=set(_TEXT | _MATH),
        attributes=_ATTRIBUTES,
        attribute_filter=_keep,
        url_schemes=SCHEMES | {"data"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@cache
def _explanation_cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags={"div", "p", "ul", "li", "strong", "code", "span", "small"},
        attributes={"*": {"style", "aria-hidden"}},
        filter_style_properties=set(_STYLES),
        url_schemes=set(),
        link_rel=None,
    )


@cache
def _code_cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags={"div", "pre", "span"},
        attributes={"*": {"class"}},
        attribute_filter=_keep,
        url_schemes=set(),
        link_rel=None,
    )


@cache
def _reader(tables: bool, environments: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    reader = MarkdownIt("commonmark", {"html": False})
    reader.enable(["strikethrough", *(["table"] if tables else [])])
    reader.use(dollarmath_plugin, allow_labels=False, double_inline=True)
    if environments:
        reader.use(amsmath_plugin)
    reader.validateLink = _is_address  # type: ignore[method-assign, assignment]  # documented
    reader.add_render_rule("heading_open", _heading)
    reader.add_render_rule("heading_close", _heading)
    reader.add_render_rule("image", _image)
    reader.add_render_rule("math_inline", _formula)
    reader.add_render_rule("math_inline_double", _display_formula)
    reader.add_render_rule("math_block", _display_formula)
    reader.add_render_rule("amsmath", _display_formula)
    return reader


def _is_address(address: str) -> bool:
    """Return whether it may stay: as a link, or as the name of a picture that is looked up."""
    return _scheme(address) in SCHEMES | {"attachment", ""}


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
    return formula(tokens[index].content, "inline")


def _display_formula(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    return formula(tokens[index].content, "block")


def formula(tex: str, display: str) -> str:
    """A formula as MathML, or as it was typed where it cannot be read."""
    typed = str(Markup("<code>{}</code>").format(tex))
    if len(tex) > _LONGEST_FORMULA:
        return typed
    try:
        from latex2mathml.converter import convert

        tree = ElementTree.fromstring(_without_entities(convert(tex, display=display)))
        return _rebuilt(tree)
    except Exception:  # a formula may make the converter stumble over anything
        return typed


def _without_entities(mathml: str) -> str:
    """XML knows numbered entities; a named one or a declaration is none of the converter's."""
    if re.search(r"<[!?]|&(?!#x?[0-9A-Fa-f]+;|amp;|lt;|gt;|quot;|apos;)", mathml):
        raise ValueError("not what the converter writes")
    return mathml


def _rebuilt(element: ElementTree.Element) -> str:
    tag = element.tag.rpartition("}")[2]
    if tag not in _MATH:
        raise ValueError(f"{tag} is no formula's")
    attributes = "".join(
        f' {name}="{html.escape(value)}"'
        for name, value in element.attrib.items()
        if name in _MATH_ATTRIBUTES
    )
    inner = "".join(_rebuilt(child) + html.escape(child.tail or "") for child in element)
    return f"<{tag}{attributes}>{html.escape(element.text or '')}{inner}</{tag}>"
