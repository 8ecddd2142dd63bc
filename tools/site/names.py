# SPDX-License-Identifier: BSD-3-Clause
"""A Sphinx extension: `tonari_start`, `tonari/grid.h` or `TONARI_CHANNEL` in any text lead to what
the reference says about them. Pages stay plain Markdown."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode


class NamesLead(SphinxPostTransform):
    """Literals that name something of the reference become links to it."""

    default_priority = 200

    def run(self, **_: Any) -> None:
        known = targets(self.env)
        for literal in list(self.document.findall(nodes.literal)):
            place = known.get(literal.astext().removesuffix("()"))
            if place and not _has(literal, nodes.reference, nodes.title):
                literal.replace_self(self.link(literal, *place))

    def link(self, literal: nodes.literal, page: str, anchor: str) -> nodes.reference:
        here = self.env.docname
        return make_refnode(self.app.builder, here, page, anchor, literal.deepcopy())


def _has(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    """Whether it stands in one of these."""
    parent = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent is not None


def targets(env: Any) -> dict[str, tuple[str, str]]:
    """By name: page and anchor."""
    found = {}
    for name, _, _, page, anchor, _ in env.get_domain("c").get_objects():
        found[name] = (page, anchor)
    for label, (page, anchor, _) in env.get_domain("std").labels.items():
        if label.startswith("setting-"):
            key = label.removeprefix("setting-")
            found.setdefault(key, (page, anchor))  # some keys are named as a function
            found.setdefault(key.upper(), (page, anchor))
    for page in env.found_docs:
        if page.startswith("reference/headers/"):
            header = page.removeprefix("reference/headers/")
            found[header] = found[f"tonari/{header}"] = (page, "")
    return found


def slug(title: str) -> str:
    """The anchor of a heading as forges make it, and tests/python/test_docs.py."""
    return re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-")


def setup(app: Any) -> dict[str, Any]:
    app.add_post_transform(NamesLead)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
