"""tonari settings: the table of settings, and what is documented and read because of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ["key", "variable", "values", "default", "where", "same_on_all_ranks", "help"]


def rows(tonari, *arguments):
    done = tonari("settings", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_rows(tonari):
    every = rows(tonari)
    assert all(list(row) == FIELDS for row in every)
    assert {"tonari_algorithm", "tonari_channel", "cdag_static_buffers"} <= {
        row["key"] for row in every
    }
    assert [row["variable"] for row in rows(tonari, "inplace")] == [
        "TONARI_INPLACE_ALGORITHM",
        "TONARI_INPLACE_MEMORY",
    ]


def test_readable_form(tonari):
    done = tonari("settings")
    assert done.returncode == 0
    for row in rows(tonari):
        assert row["key"] in done.stdout
        assert row["variable"] in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_unknown_name(tonari):
    done = tonari("settings", "quantum")
    assert done.returncode == 1
    assert (
        done.stderr == "tonari: no setting has 'quantum' in its name: `tonari settings` lists all\n"
    )


def test_readme_has_the_table(tonari):
    block = re.search(
        r"<!-- settings -->\n\n(.*?)\n\n", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert block, "README.md has no table behind <!-- settings -->"
    assert block[1] == tonari("settings", "--markdown").stdout.strip(), (
        "run `./tonari settings --markdown` and put the table into README.md"
    )


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
                    assert name in known or not name.strip('"').startswith(
                        ("TONARI_", "tonari_", "cdag_")
                    ), f"{path}: {name}"


def test_a_benchmark_keeps_no_setting(monkeypatch):
    from tonari.benchmark import launch

    monkeypatch.setenv("TONARI_ROUTE", "node")
    monkeypatch.setenv("TONARI_CACHE_DIR", "/tmp/somewhere")
    kept = launch.environment(2)
    assert "TONARI_ROUTE" not in kept
    assert kept["TONARI_CACHE_DIR"] == "/tmp/somewhere"


@pytest.mark.parametrize(
    "document", ["docs/guide.md", "docs/benchmark.md", "include/tonari/tonari.h"]
)
def test_documents_name_all_channels(tonari, document):
    [values] = [row["values"] for row in rows(tonari) if row["key"] == "tonari_channel"]
    text = (ROOT / document).read_text()
    assert [name for name in values.split(", ") if name not in text] == []
