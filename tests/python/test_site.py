# SPDX-License-Identifier: BSD-3-Clause
"""The documentation site (tools/site): its sources are gathered as `make docs` does, and every
page, link, anchor and function is looked for in them. With Sphinx in the environment, it is built,
too."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from built import more
from tonari import __version__
from tonari.reproduce import papers
from tonari.reproduce.report import page as report_page

SOURCE = Path(__file__).resolve().parents[2]
SITE = SOURCE / "tools/site"
sys.path[:0] = [str(SITE), str(SOURCE / "tools")]

import build_site  # noqa: E402
import c_header  # noqa: E402
import cpp_header  # noqa: E402
import five_papers  # noqa: E402
import llms  # noqa: E402
import pictures  # noqa: E402
import prose  # noqa: E402
import stage  # noqa: E402
import write_numbers  # noqa: E402
from write_numbers import TABLES  # noqa: E402

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


@pytest.fixture(scope="session")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build_site.gather(folder)
    return folder


def pages(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("*.md"), *folder.rglob("*.rst")])


def text_of(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def slug(title: str) -> str:
    return re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {slug(title) for title in re.findall(r"^#+ (.*)$", text_of(page), re.M)}


def listed(folder: Path) -> list[str]:
    """Entries of all tables of contents, as pages of the site."""
    found = []
    for page in folder.rglob("*.md"):
        trees = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
        for line in "\n".join(trees).splitlines():
            if line and not line.startswith(":"):
                name = re.sub(r".*<(.*)>$", r"\1", line)
                found.append((page.parent / name).relative_to(folder).as_posix())
    return found


def test_every_page_is_in_the_navigation_once(gathered: Path) -> None:
    ours = {p.relative_to(gathered).with_suffix("").as_posix() for p in pages(gathered)}
    ours = {page for page in ours if not page.startswith("source/")} - {"index"}
    counts = Counter(listed(gathered))
    assert set(counts) == ours
    assert max(counts.values()) == 1


def test_links_and_anchors_lead_somewhere(gathered: Path) -> None:
    wrong, looked = [], 0
    for page in gathered.rglob("*.md"):
        for target, anchor in LINK.findall(text_of(page)):
            there = Path(os.path.normpath(page.parent / target)) if target else page
            looked += 1
            if not there.is_file() or (anchor and anchor not in anchors(there)):
                wrong.append(f"{page.relative_to(gathered)}: {target}#{anchor}")
    assert wrong == []
    assert looked > 200


def test_nothing_is_left_to_insert(gathered: Path) -> None:
    texts = {page: page.read_text(encoding="utf-8") for page in pages(gathered)}
    assert [page for page, text in texts.items() if re.search("^<!-- site:", text, re.M)] == []


def exported() -> set[str]:
    lines = (SOURCE / "include/symbols.txt").read_text(encoding="utf-8").splitlines()
    of_petsc = (SOURCE / "include/tonari/petsc.h").read_text(encoding="utf-8")
    own = re.findall(r"^TONARI_PETSC_API .*?(\w+)\(", of_petsc, re.M)  # another library's
    return {line.split()[0] for line in lines if line and not line.startswith("#")} | set(own)


def test_the_reference_has_every_exported_function_once(gathered: Path) -> None:
    text = "\n".join(
        page.read_text(encoding="utf-8") for page in gathered.glob("reference/headers/*.h.rst")
    )
    shown = re.findall(r"^(?:\.\. c:function::|               ) .*?(\w+)\(", text, re.M)
    assert sorted(shown) == sorted(exported())


def test_the_reference_has_every_public_header(gathered: Path) -> None:
    shown = {page.name.removesuffix(".rst") for page in gathered.glob("reference/headers/*.rst")}
    assert shown == {path.name for path in (SOURCE / "include/tonari").glob("*.h*")}


def test_listings_of_classes_have_no_bodies(gathered: Path) -> None:
    for page in gathered.glob("reference/headers/*.hpp.rst"):
        text = page.read_text(encoding="utf-8")
        assert "private:" not in text
        assert not re.search(r"^ +return ", text, re.M), page.name


def test_settings_have_entries(gathered: Path) -> None:
    from tonari.core import core

    text = (gathered / "reference/settings.md").read_text(encoding="utf-8")
    for row in core().settings():
        for name in filter(None, (row.key, row.variable)):
            assert f"(setting-{name.lower()})=" in text
        assert f"\n{row.help[0].upper()}{row.help[1:]}.\n" in text


def test_pictures_are_drawn_for_both_themes(gathered: Path) -> None:
    drawn = {path.stem for path in gathered.rglob("*.svg")}
    assert len(drawn) == 2 * len({name.rpartition("-")[0] for name in drawn}) >= 8
    assert all(path.stat().st_size > 2000 for path in gathered.rglob("*.svg"))


def test_measured_rows_are_those_of_the_files(gathered: Path) -> None:
    text = (gathered / "performance.md").read_text(encoding="utf-8")
    files = set((SOURCE / "docs/performance").glob("*.csv"))
    for file in files - {SOURCE / write_numbers.ROWS / f"{name}.csv" for name in TABLES}:
        titles, *_, last = csv.reader(file.read_text(encoding="utf-8").splitlines())
        assert f"| {' | '.join(titles)} |" in text, file.name
        assert f"| {' | '.join(last)} |" in text.replace("\u00a0", " "), file.name


def test_no_marks_of_numbers_are_left(gathered: Path) -> None:
    for page in gathered.rglob("*.md"):
        assert "<!--=" not in page.read_text(encoding="utf-8"), page
    text = (gathered / "index.md").read_text(encoding="utf-8")
    assert re.search(r"\*\*\d+ to \d+ times\*\*", text)
    assert "-->" not in (gathered / "explanation/busy-ranks.md").read_text(encoding="utf-8")


def test_pictures_of_graphs_have_the_plans_messages() -> None:
    between = [(a, b) for a in range(4) for b in range(4, 8)]
    assert pictures.messages(between, "linear", 4) == [between]
    gathered, crossed, scattered = pictures.messages(between, "node-aware", 4)
    [(sender, receiver)] = crossed
    assert {b for _, b in gathered} == {sender} and {a for a, _ in scattered} == {receiver}
    assert pictures.rounds("torus") == [[(1, 0, 3), (-1, 0, 3)], [(0, 1, 3), (0, -1, 3)]]


COMMENT = """\
/* [collective] Starts *all* of it.
 *  near, far
 *           which ones; see tonari_start.
 *  info     keys:
 *             tonari_tune (TONARI_TUNE)
 *                 auto or off
 * There are two rules:
 *  - one
 *    that goes on
 *  - and another
 * So:
 *     tonari_start(near);
 *     tonari_wait(near);
 * Errors: MPI. */"""


def test_a_comment_keeps_its_shape() -> None:
    text = prose.to_rst(prose.strip_comment(COMMENT))
    assert "**Collective.** Starts \\*all\\* of it." in text
    assert "``near``, ``far``\n   which ones; see ``tonari_start``." in text
    assert "   ``tonari_tune`` (``TONARI_TUNE``)\n      auto or off" in text
    assert "\n- one that goes on\n\n- and another\n" in text
    assert ".. code-block:: c++\n\n   tonari_start(near);\n   tonari_wait(near);" in text
    assert text.endswith("\nErrors: MPI.\n")


def test_functions_share_the_comment_before_them() -> None:
    header = "/* x */\n/* Both. */\nTONARI_API int a(int n);\nTONARI_API int b(\n    void);\n\n"
    both = [e for e in c_header.entries(header) if e.declarations]
    assert [e.comment for e in both] == [["Both."]]
    text = "\n".join(c_header._section(both[0], set()))
    assert ".. c:function:: int a(int n)\n                int b( void)\n\n   Both." in text


def test_bodies_and_initializers_are_left_out() -> None:
    code = (
        "class A {\n public:\n  A(int n) : n_(n), m_{n} { f(); }\n  int n() const { return n_; }"
        "  // own\n  int g(B b = {});\n\n private:\n  int n_;\n};"
    )
    shown = cpp_header.without_bodies(cpp_header.without_private(code))
    assert (
        shown
        == "class A {\n public:\n  A(int n);\n  int n() const;  // own\n  int g(B b = {});\n};"
    )


def test_the_front_page_has_a_chart_and_one_example_in_four_languages(gathered: Path) -> None:
    text = (gathered / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^:::\{tab-item\} (.*)$", text, re.M) == ["C", "C++", "Fortran", "Python"]
    captions = [f":caption: ring.{suffix}" for suffix in ("c", "cpp", "f90", "py")]
    assert [line for line in text.splitlines() if line.startswith(":caption: ring")] == captions
    chart, ways, example = map(text.index, (":::{container} chart", "Three ways", "::::{tab-set}"))
    assert chart < ways < example
    shown = re.sub(r"^```\{toctree\}.*?^```$", "", text, flags=re.M | re.S)
    assert len(re.findall(r"^\* ", shown, re.M)) == 3 and "\n## " not in shown
    groups = re.findall(r"^:caption: (?!ring)(.*)$", text, re.M)
    assert groups[:3] == ["Start", "How to", "How it works"]


def test_links_to_headers_lead_to_the_reference(gathered: Path) -> None:
    assert "](headers/grid.hpp.rst)" in text_of(gathered / "reference/headers.md")
    text = (gathered / "source/include/tonari.rst").read_text(encoding="utf-8")
    assert "* :doc:`grid.h </reference/headers/grid.h>`" in text


def test_a_picture_for_two_themes_is_copied(tmp_path: Path) -> None:
    for name in ("a-light.svg", "a-dark.svg"):
        (tmp_path / name).write_text(f"<svg>{name}</svg>", encoding="utf-8")
    made = stage.Stage(tmp_path, tmp_path / "site", {})
    element = (
        '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="a-dark.svg">\n'
        '  <img alt="Bars" src="a-light.svg">\n</picture>'
    )
    text = made.rewritten(element, tmp_path / "README.md")
    for theme in ("light", "dark"):
        assert f"{{image}} pictures/a-{theme}.svg\n:class: only-{theme}\n:alt: Bars\n" in text
        assert (tmp_path / f"site/project/pictures/a-{theme}.svg").is_file()


def test_narrow_screens_have_a_picture_of_their_own(gathered: Path) -> None:
    for page in ("index.md", "performance.md", "project/README.md"):
        text = (gathered / page).read_text(encoding="utf-8")
        for theme in ("light", "dark"):
            for form, name in (("wide", "speedups"), ("narrow", "speedups-narrow")):
                assert f"pictures/{name}-{theme}.svg\n:class: only-{theme} {form}\n" in text
    style = (SITE / "static/site.css").read_text(encoding="utf-8")
    for screens, form in (("min-width: 40.01em", "narrow"), ("max-width: 40em", "wide")):
        rule = (
            f"@media ({screens}) {{\n  html body .chart img.{form} {{ display: none !important; }}"
        )
        assert rule in style


def test_links_in_code_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs/page.md"
    made = stage.Stage(tmp_path, tmp_path / "site", {})
    text = "[a](../src/a.c)\n```cpp\n[](auto) { f(); }\n```\n[b](#b)"
    assert made.rewritten(text, page) == text.replace("../src/a.c", "source/src/a.c.rst")
    assert made.linked == {tmp_path / "src/a.c"}


def test_llms_txt_has_every_page_of_the_navigation_once(tmp_path: Path) -> None:
    made = stage.Stage(SOURCE, tmp_path, {})
    llms.write(made, tmp_path / "html")
    lines = (tmp_path / "html/llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# tonari" and lines[2].startswith("> tonari makes halo exchanges")
    index = (SOURCE / "docs/index.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.*)$", index, re.M)
    assert [line[3:] for line in lines if line.startswith("## ")] == titles
    found = [re.fullmatch(r"- \[[^]]+\]\(([\w./-]+)\.html\): (.+)", line) for line in lines]
    pages = [match[1] for match in found if match]
    assert Counter(pages) == Counter(
        made.place(Path(os.path.normpath(SOURCE / "docs" / target))).with_suffix("").as_posix()
        for _, target in stage.ITEM.findall(index)
    )
    for match in filter(None, found):
        assert match[2][-1] in ".:!?" and "](" not in match[2], match[0]


def test_a_first_sentence_is_prose_and_plain() -> None:
    page = "# T\n\n<picture>\n  x\n</picture>\n\n| a |\n\nOne [link](b.md),\nv 1.5 here. Next one."
    assert llms.first_sentence(page) == "One link, v 1.5 here."
    with pytest.raises(ValueError, match="no sentence"):
        llms.first_sentence("# T\n\n* a list\n")


@pytest.mark.parametrize("builder", [more("html")])
def test_sphinx_warns_of_nothing(builder: str, gathered: Path, tmp_path: Path) -> None:
    pytest.importorskip(
        "sphinx",
        reason="there is no Sphinx: `make docs` installs it, and warnings are errors there",
    )
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", builder, "-q", "-W", "--keep-going"]
        + ["-c", str(SITE), str(gathered), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_of_python_has_all_that_is_public(gathered: Path) -> None:
    import ast

    text = (gathered / "reference/python.md").read_text(encoding="utf-8")
    tree = ast.parse((SOURCE / "python/tonari/mpi/__init__.py").read_text(encoding="utf-8"))
    (names,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert set(re.findall(r"^## (\w+)$", text, re.M)) == {*names} - {"mpi_kind", "library_path"}
    assert "start_with(send: Any, recv: Any) -> None\n    Starts the exchange" in text


def report_of(some: list[Any], version: str, more: str = "") -> str:
    return "\n".join(
        [report_page.version_line(version), *map(report_page.paper_heading, some), more]
    )


def test_only_a_whole_report_of_this_version_is_beside_the_pages(tmp_path: Path) -> None:
    here, all_papers = tmp_path / "report.html", papers.papers()
    assert not five_papers.whole(here)
    for text, whole in (
        (report_of(all_papers, __version__), True),
        (report_of(all_papers[:2], __version__), False),
        (report_of(all_papers, "0.0.0"), False),
        (report_of(all_papers, __version__, '<p class="failed-text">no room</p>'), False),
    ):
        here.write_text(text, encoding="utf-8")
        assert five_papers.whole(here) == whole


def test_without_a_report_one_is_simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def simulated(some: list[Any], here: Any, folder: Path) -> None:
        made.append(here.mpis)
        folder.mkdir()
        (folder / "report.html").write_text("simulated")

    monkeypatch.setattr("tonari.reproduce.make.make", simulated)
    five_papers.write(tmp_path, tmp_path)
    assert made == [()] and (tmp_path / five_papers.NAME).read_text() == "simulated"
    finished = tmp_path / "reproduce/report.html"
    finished.parent.mkdir()
    finished.write_text(report_of(papers.papers(), __version__), encoding="utf-8")
    five_papers.write(tmp_path, tmp_path)
    assert len(made) == 1 and (tmp_path / five_papers.NAME).read_text() == finished.read_text()
