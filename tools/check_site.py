"""Check a built site: links lead somewhere, nothing is loaded from other sites, and search finds its words.

python tools/check_site.py build/site
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SEARCHED = ("coupl", "lattic", "名词", "副词")  # stems and pairs of characters that pages have


class Page(HTMLParser):
    """The names in a page that links can lead to, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = {"", "top"}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {key: value or "" for key, value in attrs}
        self.names |= {own[key] for key in ("id", "name") if key in own}
        if "href" in own:
            (self.loads if tag == "link" else self.links).append(own["href"])
        if "src" in own:
            self.loads.append(own["src"])


def problems(site: Path) -> Iterator[str]:
    """Everything that is wrong with a site."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.loads + page.links:
            yield from (
                f"{path.relative_to(site.resolve())}: {said}" for said in wrong_link(path, link, pages)
            )
        for link in page.loads:
            if urlsplit(link).netloc:
                yield f"{path.name}: loads {link}"
    for style in site.rglob("*.css"):
        for link in re.findall(
            r"(?:url\(|@import )['\"]?(https?:[^)'\"]+)", style.read_text(encoding="utf-8")
        ):
            yield f"{style.name}: loads {link}"
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    terms = json.loads(index[index.index("{") : index.rindex("}") + 1])["terms"]
    yield from (f"search does not know {word}" for word in SEARCHED if word not in terms)


def wrong_link(path: Path, link: str, pages: dict[Path, Page]) -> Iterator[str]:
    """What is wrong with a link; those to other sites are not followed."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        yield f"{link} leads nowhere"
    elif target in pages and unquote(parts.fragment) not in pages[target].names:
        yield f"{link} leads to no such place"


if __name__ == "__main__":
    site = Path(sys.argv[1])
    found = list(problems(site))
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages, all links lead somewhere")
    sys.exit(bool(found))
