"""Laid out explanations as text, Markdown and HTML: the same lines in all three."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from foretime.inference.explanation.layout import ExplanationLayout, LayoutItem
from foretime.inference.explanation.phrases import END_ISOLATE, ISOLATE
from foretime.inference.explanation.rounding import written


def write_text(pages: Sequence[ExplanationLayout]) -> str:
    """Return plain text."""
    return "\n\n".join("\n".join(_text_lines(page)) for page in pages)


def _text_lines(page: ExplanationLayout) -> Iterator[str]:
    yield from (page.title, *page.lines)
    for section in page.sections:
        yield from ("", f"{section.heading}:", *_text_items(section.items, ""))


def _text_items(items: Iterable[LayoutItem], margin: str) -> Iterator[str]:
    for item in items:
        number = "" if item.units is None else f"{_number(item):>8} "
        yield f"{margin}{number}{f'{item.mark:9} ' if item.mark else ''}{item.text}"
        yield from _text_items(item.items, margin + " " * 9)


def write_markdown(pages: Sequence[ExplanationLayout]) -> str:
    """Return Markdown in which names mean no markup."""
    return "\n".join("\n".join(_markdown_lines(page)) + "\n" for page in pages)


def _markdown_lines(page: ExplanationLayout) -> Iterator[str]:
    yield f"{'#' if page.is_comparison else '##'} {_plain(_capital(page.title))}"
    for line in page.lines:
        yield from ("", _plain(line))
    for section in page.sections:
        yield from ("", f"### {_plain(_capital(section.heading))}", "", *_markdown_items(section.items, ""))


def _markdown_items(items: Iterable[LayoutItem], margin: str) -> Iterator[str]:
    for item in items:
        number = "" if item.units is None else f"**{_number(item)}** "
        text = _code(item.text) if item.is_rule else _plain(item.text)
        yield f"{margin}- {number}{f'*{item.mark}* ' if item.mark else ''}{text}"
        yield from _markdown_items(item.items, margin + "  ")


def write_html(pages: Sequence[ExplanationLayout]) -> str:
    """Return HTML, every name escaped."""
    return "".join(f"<section>{''.join(_html_parts(page))}</section>" for page in pages)


def _html_parts(page: ExplanationLayout) -> Iterator[str]:
    yield f"<h3>{_escaped(_capital(page.title))}</h3>"
    yield from (f"<p>{_escaped(line)}</p>" for line in page.lines)
    for section in page.sections:
        yield f"<h4>{_escaped(_capital(section.heading))}</h4>{_html_items(section.items)}"


def _html_items(items: Sequence[LayoutItem]) -> str:
    return f"<ul>{''.join(map(_html_item, items))}</ul>" if items else ""


def _html_item(item: LayoutItem) -> str:
    number = "" if item.units is None else f"<b>{_number(item)}</b> "
    text = f"<code>{_escaped(item.text)}</code>" if item.is_rule else _escaped(item.text)
    return f"<li>{number}{f'<i>{item.mark}</i> ' if item.mark else ''}{text}{_html_items(item.items)}</li>"


def _escaped(text: str) -> str:
    """Return a text without markup; names that were isolated are so by an element."""
    return escape(text).replace(ISOLATE, "<bdi>").replace(END_ISOLATE, "</bdi>")


def _number(item: LayoutItem) -> str:
    return written(item.units or 0, sign=item.signed)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plain(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in text)


def _code(text: str) -> str:
    """Return a text as code, whatever backticks are in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


WRITERS: dict[str, Callable[[Sequence[ExplanationLayout]], str]] = {
    "text": write_text,
    "markdown": write_markdown,
    "html": write_html,
}
