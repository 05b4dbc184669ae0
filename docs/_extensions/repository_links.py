"""Links to files of the repository, as on a forge, lead to the page made of the file, if there is one.

Pages that only include a file of the repository get its text here, so that its links are treated alike.
"""

import os
import re
from pathlib import Path
from posixpath import dirname, join, normpath

from sphinx.application import Sphinx

PAGES = {
    "../README.md": "index.md",
    "../CHANGELOG.md": "project/changelog.md",
    "../CONTRIBUTING.md": "project/contributing.md",
    "../benchmarks/README.md": "project/benchmarks.md",
}
INCLUDE = re.compile(r"```\{include\} (\S+)\n```")
LINK = re.compile(r"\[([^\]]+)\]\(([\w/.-]+\.md)(#[^)]*)?\)")


def lead_to_pages(app: Sphinx, page: str, source: list[str]) -> None:
    folder = where = dirname(page)  # links count from where the text was written
    if included := INCLUDE.fullmatch(source[0].strip()):
        path = normpath(join(folder, included[1]))
        source[0], where = (Path(app.srcdir) / path).read_text(encoding="utf-8"), dirname(path)

    def replaced(link: re.Match[str]) -> str:
        target = normpath(join(where, link[2]))
        target = PAGES.get(target, target)
        if target.startswith(".."):
            return link[1]
        return f"[{link[1]}]({os.path.relpath(target, folder or '.')}{link[3] or ''})"

    source[0] = LINK.sub(replaced, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", lead_to_pages)
    return {"parallel_read_safe": True}
