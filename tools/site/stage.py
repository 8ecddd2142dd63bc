# SPDX-License-Identifier: BSD-3-Clause
"""The sources of the documentation site, from the files of the repository.

docs/ becomes the root of the site; README.md and its neighbors go to project/. Other files that a
page links to get a page that shows them, below source/. Links are rewritten to match. A line
`<!-- site: NAME ... -->` in a page is replaced by what inserts.py makes of it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
INSERT = re.compile(r"^<!-- site: (.*?) -->$", re.M)
DRAWING = re.compile(r"^```mermaid\n.*?^```$", re.M | re.S)  # which only forges can show
ROOMS = "picture rooms The rooms of src/ by floors; an arrow leads to what a room includes"
MARK = re.compile(r"^<!-- (?!site:).*? -->\n(?=```)", re.M)
NUMBER = re.compile(r"<!--=[\w.-]+-->|<!--/-->|^<!-- /?rows.*? -->\n", re.M)  # write_numbers.py's
PICTURE = re.compile(r"^<picture>.*?^</picture>", re.M | re.S)  # one for each theme
PROGRAM = re.compile(r"^<!-- program: (\S+) ranks .*? -->\n```(\w+)\n", re.M)
PROGRAMS = re.compile(r"(?:^<!-- program: [^\n]* -->\n```\w+\n(?:(?!^```).*\n)*```\n\n?){2,}", re.M)
SECTION = re.compile(r"^## (.*)\n((?:(?!## ).*\n?)*)", re.M)
ITEM = re.compile(r"^\* \[([^\]]*)\]\(([^)#\s]*\.md)\)", re.M)
TABS = {".c": "C", ".cpp": "C++", ".f90": "Fortran", ".py": "Python"}
LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cpp": "c++",
    ".hpp": "c++",
    ".py": "python",
    ".txt": "text",
    ".bib": "bibtex",
}


@dataclass
class Stage:
    """Where the sources of the site are gathered, and what is made for them."""

    root: Path  # of the repository
    folder: Path
    inserts: dict[str, Callable[..., str]]
    linked: set[Path] = field(default_factory=set)  # files of the repository that need a page

    def documents(self) -> Iterator[Path]:
        yield from sorted((self.root / "docs").rglob("*.md"))
        yield from sorted(self.root.glob("*.md"))

    def write_all(self) -> None:
        for document in self.documents():
            self.write(document)
        shown: set[Path] = set()
        while missing := self.linked - shown:
            for path in sorted(missing):
                self.show(path)
            shown |= missing

    def write(self, document: Path) -> None:
        text = document.read_text(encoding="utf-8")
        if document == self.root / "docs/index.md":
            text = front(text) + "\n" + "\n".join(toctrees(text))
        elif document == self.root / "docs/adr/README.md":
            records = sorted(path.stem for path in document.parent.glob("0*.md"))
            text += "\n" + "\n".join(toctree(records))
        place = self.folder / self.place(document)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.rewritten(text, document), encoding="utf-8")

    def place(self, path: Path) -> PurePosixPath:
        """Of a file of the repository: where it lies in the site."""
        name = PurePosixPath(path.relative_to(self.root).as_posix())
        if name.is_relative_to("docs") and name.suffix == ".md":
            return name.relative_to("docs")
        if name.suffix == ".md" and len(name.parts) == 1:
            return "project" / name
        if name.parent == PurePosixPath("include/tonari") and name.suffix:
            return PurePosixPath("reference/headers", f"{name.name}.rst")
        return PurePosixPath("source", f"{name}.rst")

    def rewritten(self, text: str, document: Path) -> str:
        """Links lead to places of the site, and inserts are made; code stays as it is."""
        text = PROGRAM.sub(r"```{code-block} \2\n:caption: \1\n\n", text)
        text = PICTURE.sub(lambda m: self.picture(m[0], document), text)
        text = DRAWING.sub(f"<!-- site: {ROOMS} -->", MARK.sub("", NUMBER.sub("", text)))
        text = INSERT.sub(lambda m: self.made(m[1], document), text)
        parts = FENCE.split(text)
        for k in range(0, len(parts), 2):
            parts[k] = LINK.sub(lambda m: self.link(m[1], m[2] or "", document), parts[k])
        return "".join(parts)

    def picture(self, element: str, document: Path) -> str:
        """The pictures of an element, copied, with a theme each."""
        attributes = dict(re.findall(r'(srcset|src|alt)="([^"]*)"', element))
        folder = (self.folder / self.place(document)).parent / "pictures"
        folder.mkdir(parents=True, exist_ok=True)
        parts = []
        for attribute, theme in (("src", "light"), ("srcset", "dark")):
            wide = document.parent / attributes[attribute]
            narrow = wide.with_name(wide.name.replace(f"-{theme}", f"-narrow-{theme}"))
            forms = {"wide": wide, "narrow": narrow} if narrow.is_file() else {"only": wide}
            for form, file in forms.items():
                shutil.copy(file, folder)
                shown = f"only-{theme} {form}" if form != "only" else f"only-{theme}"
                options = f":class: {shown}\n:alt: {attributes['alt']}"
                parts.append(f"```{{image}} pictures/{file.name}\n{options}\n```")
        return ":::{container} chart\n\n" + "\n\n".join(parts) + "\n\n:::"

    def made(self, order: str, document: Path) -> str:
        name, _, rest = order.partition(" ")
        folder = self.folder / self.place(document).parent
        return self.inserts[name](rest, folder)

    def link(self, target: str, anchor: str, document: Path) -> str:
        if not target:
            return f"]({anchor})"
        path = Path(os.path.normpath(document.parent / target))
        if path.is_dir() and (path / "README.md").is_file():
            path /= "README.md"
        place = self.place(path)
        self.want(path)
        return f"]({os.path.relpath(place, self.place(document).parent)}{anchor})"

    def want(self, path: Path) -> None:
        """Headers have pages of their own."""
        if self.place(path).parts[0] == "source":
            self.linked.add(path)

    def show(self, path: Path) -> None:
        """A page for a file that is no document, or for a folder of such files."""
        name = path.relative_to(self.root).as_posix()
        place = self.folder / self.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        lines = self.folder_page(path) if path.is_dir() else listing(path, place.parent)
        text = "\n".join([":orphan:", "", name, "=" * len(name), "", *lines])
        place.write_text(text + "\n", encoding="utf-8")

    def folder_page(self, folder: Path) -> Iterator[str]:
        files = [path for path in sorted(folder.rglob("*")) if path.suffix in LANGUAGES]
        for path in files:
            self.want(path)
            name = path.relative_to(folder).as_posix()
            target = self.place(path).with_suffix("")
            yield f"* :doc:`{name} </{target}>`"


def listing(path: Path, folder: Path) -> list[str]:
    language = LANGUAGES.get(path.suffix, "text")
    return [f".. literalinclude:: {os.path.relpath(path, folder)}", f"   :language: {language}"]


def front(index: str) -> str:
    """What docs/index.md has before its lists, which are the sidebar; programs become tabs."""
    return PROGRAMS.sub(lambda m: tabs(m[0]), index.partition("\n## ")[0])


def tabs(programs: str) -> str:
    parts = ["::::{tab-set}"]
    for part in programs.strip().split("\n\n<!--"):
        block = part if part.startswith("<!--") else f"<!--{part}"
        name = PurePosixPath(block.split()[2])
        parts.append(f":::{{tab-item}} {TABS[name.suffix]}\n\n{block}\n\n:::")
    return "\n\n".join([*parts, "::::\n\n"])


def toctrees(index: str) -> Iterator[str]:
    """The navigation is what docs/index.md lists: a part for each heading."""
    for title, body in SECTION.findall(index):
        pages = [entry(*item) for item in ITEM.findall(body)]
        if pages:
            yield from toctree(pages, f":caption: {title}")


def entry(title: str, target: str) -> str:
    """Documents of the root have titles for the root."""
    page = target.removesuffix(".md")
    return f"{title} <project/{page[3:]}>" if page.startswith("../") else page


def toctree(pages: list[str], *options: str) -> list[str]:
    return ["```{toctree}", ":hidden:", *options, "", *pages, "```", ""]
