# SPDX-License-Identifier: BSD-3-Clause
"""tonari settings: the table of settings, and what is documented and read because of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import fits, printed

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ["key", "variable", "values", "default", "where", "same_on_all_ranks", "help"]


def rows(tonari, *arguments):
    done = tonari("settings", *arguments, "--json")
    assert done.stderr == ""
    return json.loads(printed(done))


def test_rows(tonari):
    every = rows(tonari)
    assert all(list(row) == FIELDS for row in every)
    keys = {row["key"] for row in every}
    assert {"tonari_algorithm", "tonari_channel", "cdag_static_buffers"} <= keys
    in_place = [row["variable"] for row in rows(tonari, "inplace")]
    assert in_place == ["TONARI_INPLACE_ALGORITHM", "TONARI_INPLACE_MEMORY"]


def test_readable_form(tonari):
    text = printed(tonari("settings"))
    for row in rows(tonari):
        assert row["key"] in text and row["variable"] in text
    assert fits(text)


def test_unknown_name(tonari):
    done = tonari("settings", "quantum")
    assert done.returncode == 1
    sentence = "no setting has 'quantum' in its name: `tonari settings` lists all"
    assert done.stderr == f"tonari: {sentence}\n"


def test_the_page_has_the_table(tonari):
    text = (ROOT / "docs/settings.md").read_text()
    block = re.search(r"<!-- settings -->\n\n(.*?)\n\n", text, re.DOTALL)
    assert block, "docs/settings.md has no table behind <!-- settings -->"
    advice = "run tools/write_settings.py"
    assert block[1] == tonari("settings", "--markdown").stdout.strip(), advice


@pytest.mark.parametrize("pattern", [r"TONARI_[A-Z_]+", r'"(?:tonari|cdag)_[a-z_]+"'])
def test_the_library_reads_no_others(tonari, pattern):
    """Names in strings of src/ are in the table, so that nothing is read past it."""
    known = {row["variable"] for row in rows(tonari)} | {f'"{row["key"]}"' for row in rows(tonari)}
    strings = re.compile(r'getenv\("([A-Z_]+)"|' + pattern)
    for path in (ROOT / "src").rglob("*.[ch]pp"):
        for line in path.read_text().splitlines():
            if "getenv(" in line or pattern.startswith('"'):
                for found in strings.finditer(line):
                    name = found[1] or found[0]
                    ours = name.strip('"').startswith(("TONARI_", "tonari_", "cdag_"))
                    assert name in known or not ours, f"{path}: {name}"


def test_a_benchmark_keeps_no_setting(monkeypatch):
    from tonari.benchmark import launch

    monkeypatch.setenv("TONARI_ROUTE", "node")
    monkeypatch.setenv("TONARI_CACHE_DIR", "/tmp/somewhere")
    kept = launch.environment(2)
    assert "TONARI_ROUTE" not in kept
    assert kept["TONARI_CACHE_DIR"] == "/tmp/somewhere"


@pytest.mark.parametrize(
    "document", ["docs/explanation/channels.md", "docs/benchmark.md", "include/tonari/tonari.h"]
)
def test_documents_name_all_channels(tonari, document):
    [values] = [row["values"] for row in rows(tonari) if row["key"] == "tonari_channel"]
    text = (ROOT / document).read_text()
    assert [name for name in values.split(", ") if name not in text] == []
