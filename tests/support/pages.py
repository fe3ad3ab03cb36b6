"""Reads the self-contained pages that Replay writes."""

from __future__ import annotations

import base64
import csv
import io
import re
from html.parser import HTMLParser

#: The tags and attributes with which a page could request another file.
ASKING = {"script", "link", "img", "iframe", "object", "embed", "audio", "video", "base", "form", "use", "image"}


class PageReader(HTMLParser):
    """Gathers the parts of a page, and refuses tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta",):
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, name: str) -> list[str]:
        return [value for _, one, value in self.attributes if one == name]

    def download(self, name: str) -> list[dict[str, str]]:
        (address,) = [
            value for value in self.all("href") if value == self.all("href")[self.all("download").index(name)]
        ]
        text = base64.b64decode(address.removeprefix("data:text/csv;charset=utf-8;base64,")).decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))


def words_of(page: PageReader) -> str:
    """Return the text of a page, with single spaces."""
    return re.sub(r"\s+", " ", " ".join(page.text))


def rows_of(page: PageReader, caption: str) -> list[list[str]]:
    """Return the rows of the table with this beginning of its caption, without spaces around their texts."""
    tables = re.findall(r"<table.*?</table>", page.source, re.DOTALL)
    table = next(one for one in tables if f"<caption>{caption}" in one)
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
