# SPDX-License-Identifier: BSD-3-Clause
"""The page of `tonari advise --html`: one file that needs no other."""

from __future__ import annotations

from html import escape

from tonari import output
from tonari.advice import code
from tonari.advice.exchanges import Exchange, Job
from tonari.advice.rows import advice, heading, is_worth_it, messages, neighbors
from tonari.advice.summary import summary

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b2733; background: #fff }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d5dce3 }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
pre { background: #f2f5f8; padding: .8rem; overflow-x: auto; font-size: 14px }
h2 { margin-top: 2.5rem; font-size: 1.15rem }
.bar { height: 12px; margin: 2px 0 }
.label { font-size: 14px; color: #54636f }
"""
PROGRAM, MPI, TONARI = "#8a97a3", "#D55E00", "#0072B2"


def page(job: Job) -> str:
    """As a text."""
    parts = [
        "<h1>What tonari would change</h1>",
        *(f"<p>{escape(line)}</p>" for line in heading(job)),
        f"<p>{escape(summary(job))}</p>",
        _table(job),
        *(_section(number, one, job) for number, one in enumerate(job.exchanges, 1)),
        _packings(job),
    ]
    head = f'<meta charset="utf-8"><title>tonari advise</title><style>{STYLE}</style>'
    body = f"<head>{head}</head>\n<body>{''.join(parts)}</body>"
    return f'<!DOCTYPE html>\n<html lang="en">{body}</html>\n'


def _table(job: Job) -> str:
    if not job.exchanges:
        return ""
    names = ["place", "neighbors", "times", "of the run", "tonari saves"]
    head = "".join(f"<th{_number(k >= 2)}>{name}</th>" for k, name in enumerate(names))
    lines = "".join(_line(*row, job) for row in enumerate(job.exchanges, 1))
    return f"<table><tr>{head}</tr>{lines}</table>"


def _number(yes: bool) -> str:
    return ' class="number"' if yes else ""


def _line(number: int, one: Exchange, job: Job) -> str:
    saved = f"{100 * one.saved_share(job):.1f} %" if is_worth_it(one, job) else "-"
    cells = [
        f'<td><a href="#exchange{number}">{escape(one.site)}</a></td>',
        f"<td>{escape(neighbors(one))}</td>",
        f"<td{_number(True)}>{one.epochs:,}</td>",
        f"<td{_number(True)}>{100 * one.share(job):.1f} %</td>",
        f"<td{_number(True)}>{saved}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _section(number: int, one: Exchange, job: Job) -> str:
    where = f" in {one.function}" if one.function else ""
    parts = [f'<h2 id="exchange{number}">{escape(one.site + where)}</h2>']
    if one.is_steady:
        parts.append(f"<p>{escape(messages(one))} to {escape(neighbors(one))}, in each step.</p>")
        parts.append(_bars(one))
    parts.append(f"<p>{escape(advice(one, job).capitalize())}.</p>")
    if one.places:
        parts.append(f'<p class="label">{escape(", ".join(one.places))}</p>')
    if is_worth_it(one, job):
        parts.append(f"<pre>{escape(chr(10).join(code.lines(one)))}</pre>")
    return "".join(parts)


def _bars(one: Exchange) -> str:
    """Time of a step, of its exchange, and of the two replays, on one scale."""
    bars = [("step", one.step_us, "#d5dce3"), ("exchange in it", one.exchange_us, PROGRAM)]
    if one.mpi_us is not None and one.tonari_us is not None:
        bars += [
            ("alone, by the MPI", one.mpi_us, MPI),
            ("alone, by tonari", one.tonari_us, TONARI),
        ]
    longest = max(time for _, time, _ in bars) or 1.0
    return "".join(
        f'<div class="label">{name}: {output.time(time)}</div>'
        f'<div class="bar" style="width:{100 * time / longest:.1f}%;background:{color}"></div>'
        for name, time, color in bars
    )


def _packings(job: Job) -> str:
    if not job.packings:
        return ""
    rows = "".join(
        f"<tr><td>{escape(one.site)}</td><td>{one.call}</td>"
        f"<td{_number(True)}>{one.calls:,}</td><td{_number(True)}>{output.size(one.bytes)}</td>"
        f"<td{_number(True)}>{output.time(one.seconds * 1e6)}</td></tr>"
        for one in job.packings
    )
    head = "<tr><th>place</th><th>call</th><th>calls</th><th>bytes</th><th>time</th></tr>"
    return f"<h2>Packing</h2><table>{head}{rows}</table>"
