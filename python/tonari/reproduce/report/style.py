# SPDX-License-Identifier: BSD-3-Clause
"""How the page looks, and the script that draws a plot when it comes into view."""

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b2733; background: #fff }
h1 { margin-bottom: .2rem }
h2 { margin-top: 4rem; border-top: 2px solid #1b2733; padding-top: 1rem }
h3 { margin-top: 3rem }
table { border-collapse: collapse; margin: .5rem 0 }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
         border-bottom: 1px solid #d5dce3 }
table.numbers td + td, table.numbers th + th { text-align: right;
         font-variant-numeric: tabular-nums }
.scroll { overflow-x: auto }
table.papers { table-layout: fixed; width: 100% }
table.papers th:nth-child(1), table.papers th:nth-child(4) { width: 18% }
table.papers th:nth-child(2) { width: 22% }
ul.claims { list-style: none; margin: .4rem 0; padding: 0 }
ul.claims li { display: flex; gap: .6rem; margin: .25rem 0; overflow-wrap: anywhere }
.mark { flex: 0 0 8rem; font-size: 14px; line-height: 1.7; font-weight: 600; color: #54636f;
        white-space: nowrap }
.mark.agrees { color: #00714f }
.mark.shape { color: #0062a0 }
.mark.differs { color: #a34700 }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr));
         gap: .5rem }
.plot { min-height: 330px; min-width: 0 }
.plot .modebar { opacity: 0 }
.plot:hover .modebar { opacity: 1 }
.quiet, td small { color: #54636f }
.chip { display: inline-block; border-radius: .8rem; padding: 0 .6rem; font-size: 14px;
        color: #fff; background: #54636f; text-decoration: none; margin: .1rem .2rem .1rem 0;
        white-space: nowrap }
.chip.agrees { background: #00714f }
.chip.shape { background: #0062a0 }
.chip.differs { background: #a34700 }
.chip.failed { background: #b3001b }
.failed-text { color: #b3001b; font-weight: 600 }
.verdict { border-left: 5px solid #54636f; padding: .2rem 0 .2rem 1rem; margin: .6rem 0 }
.verdict.agrees { border-color: #00714f }
.verdict.shape { border-color: #0062a0 }
.verdict.differs { border-color: #a34700 }
.verdict.failed { border-color: #b3001b }
pre { background: #f2f5f8; padding: .6rem; overflow-x: auto; font-size: 13px }
details { margin: .4rem 0 }
summary { cursor: pointer; color: #0062a0 }
@media (max-width: 50rem) {
  table.papers tr:first-child { display: none }
  table.papers, table.papers tbody, table.papers tr, table.papers td { display: block }
  table.papers td { border: 0; padding: .2rem 0 }
  table.papers td + td::before { display: block; font-weight: 600 }
  table.papers td:nth-child(2)::before { content: "Claimed" }
  table.papers td:nth-child(3)::before { content: "Here" }
  table.papers td:nth-child(4)::before { content: "tonari beyond it" }
  table.papers tr { border-bottom: 1px solid #d5dce3; padding: .6rem 0 }
  .chip { white-space: normal }
  ul.claims li { display: block }
  .mark { display: block; line-height: 1.4 }
}
"""

SCRIPT = """
const draw = div => {
  const plot = JSON.parse(div.querySelector("script").textContent);
  div.replaceChildren();
  Plotly.newPlot(div, plot.data, plot.layout, {responsive: true, displaylogo: false});
};
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    draw(entry.target);
  }
}, {rootMargin: "400px"});
for (const div of document.querySelectorAll(".plot")) seen.observe(div);
const rest = () => [...document.querySelectorAll(".plot > script")].map(one => one.parentElement);
addEventListener("beforeprint", () => rest().forEach(draw));
"""
