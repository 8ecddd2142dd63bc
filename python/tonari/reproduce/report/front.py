# SPDX-License-Identifier: BSD-3-Clause
"""The first page of the report, for a reader with two minutes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tonari.reproduce.claims import listed
from tonari.reproduce.figures import AGREES, DIFFERS, SHAPE, Here, Paper
from tonari.reproduce.outcome import FAILED, LEFT_OUT, Outcome
from tonari.reproduce.report.section import anchor, chip, claims

KINDS = {
    AGREES: ("agrees", "agree"),
    SHAPE: ("agrees in shape", "agree in shape"),
    DIFFERS: ("differs", "differ"),
    FAILED: ("failed", "failed"),
    LEFT_OUT: ("is left out", "are left out"),
}


def front(papers: Sequence[Paper], outcomes: Sequence[Outcome], here: Here) -> str:
    """Five papers: what each claimed, what came out here, and what tonari does beyond it."""
    head = "<tr><th>paper</th><th>claimed</th><th>here</th><th>tonari beyond it</th></tr>"
    lines = "".join(_line(paper, of_paper(paper, outcomes)) for paper in papers)
    return "\n".join(
        [
            f"<p>{escape(counted(outcomes))} Each figure below has the sentence that the program "
            "computed from its numbers, and the commands that made them.</p>",
            f'<div class="scroll"><table class="papers">{head}{lines}</table></div>',
            legend(),
            left_out(papers, outcomes, here),
        ]
    )


def of_paper(paper: Paper, outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if one.paper.key == paper.key]


def counted(outcomes: Sequence[Outcome]) -> str:
    """Of 20 figures, 12 agree, 5 agree in shape and 3 differ."""
    kinds = [one.kind for one in outcomes]
    parts = [
        f"{kinds.count(kind)} {words[kinds.count(kind) > 1]}"
        for kind, words in KINDS.items()
        if kind in kinds
    ]
    return f"Of {len(outcomes)} figures and tables, {listed(parts)}."


def _line(paper: Paper, outcomes: Sequence[Outcome]) -> str:
    chips = "".join(chip(one, one.figure.number) for one in outcomes)
    best = [one for one in outcomes if one.figure.number == paper.headline]
    told = _headline(best[0]) if best else ""
    return (
        f'<tr><td><a href="#{paper.key}"><b>{escape(paper.authors)} {paper.year}</b></a><br>'
        f"{escape(paper.title)}</td><td>{escape(paper.claimed)}</td><td>{chips}{told}</td>"
        f"<td>{escape(paper.beyond)}</td></tr>"
    )


def _headline(outcome: Outcome) -> str:
    """The figure that says the most of its paper, with a claim of each kind."""
    name = escape(outcome.figure.number)
    if not outcome.verdict:
        return f"<p>{name}: {escape(outcome.missing)}</p>"
    first = {kind: (kind, said) for kind, said in reversed(outcome.verdict.claims)}
    kinds = [kind for kind in (AGREES, SHAPE, DIFFERS) if kind in first]
    return f"<p>{name}: {escape(outcome.verdict.head)}</p>{claims([first[k] for k in kinds])}"


def legend() -> str:
    return (
        "<p><b>Ran</b>: solid lines with dots, measured on this machine. <b>Simulated</b>: dotted "
        "lines with diamonds, by the LogGP model for many ranks, which is no measurement. "
        "<b>Planned</b>: squares, exact counts of messages. <b>Published</b>: dashed lines with "
        "crosses, only where a table or the text has a number. <b>Agrees</b>: within a quarter of "
        "the published number, or the same count. <b>Agrees in shape</b>: the same wins, or it "
        "turns elsewhere. <b>Differs</b>: another wins, or it never turns. The worst of a figure's "
        "claims decides.</p>"
    )


def left_out(papers: Sequence[Paper], outcomes: Sequence[Outcome], here: Here) -> str:
    """What this machine lacks, which figures that costs, and which no machine can make."""
    items = [escape(sentence) for sentence in lacking(here)]
    items += [
        f'<a href="#{anchor(one.paper, one.figure.number)}">{escape(_name(one))}</a>: '
        f"{escape(one.missing)}"
        for one in outcomes
        if one.kind == LEFT_OUT
    ]
    items += [
        f'<span class="failed-text">{escape(_name(one))}, {escape(step)}: failed</span>, '
        f"{escape(said)}"
        for one in outcomes
        for step, said in one.failed.items()
    ]
    items += [
        f"{escape(paper.authors)} {paper.year}, {escape(one.number)} ({escape(one.title)}): "
        f"{escape(one.reason)}"
        for paper in papers
        for one in paper.unmade
    ]
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f"<h4>What is left out</h4><ul>{lines}</ul>" if lines else ""


def _name(one: Outcome) -> str:
    return f"{one.paper.authors} {one.paper.year}, {one.figure.number}"


def lacking(here: Here) -> list[str]:
    """A sentence for each thing that this machine does not have, or that was not asked for."""
    said = []
    if here.short:
        said.append(
            "This is the short form: small sizes, few rounds, and no runs between hosts or by a "
            "second MPI."
        )
    if not here.mpis:
        said.append("The build has no MPI, so nothing ran: only simulated and planned numbers.")
    if len(here.mpis) == 1:
        said.append(f"The build has one MPI, {here.mpis[0]}, so no second one is beside it.")
    if here.mpis and not here.hosts:
        why = "which Open MPI starts ranks on" if here.root else "which only root can make"
        said.append(
            f"There are no hosts, {why}: ranks share one machine, and Figure 2 of Träff et al. "
            "has no run between 27 of them."
        )
    if not here.gpu:
        said.append("There is no GPU: the bandwidth of Zhao et al., Table 2, is left out.")
    if not here.matrices:
        said.append(
            "No folder of matrices was given (--matrices), and none may be shipped: figures on "
            "them use what the project has instead, or are left out."
        )
    return said
