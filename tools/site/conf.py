# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's configuration; tools/site/build_site.py gathers the sources and calls Sphinx."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

version_line = re.search(
    r"project\(tonari\s+VERSION ([\d.]+)", (HERE.parents[1] / "CMakeLists.txt").read_text()
)
assert version_line
project, release = "tonari", version_line[1]
copyright = "the tonari authors; BSD-3-Clause"
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "names"]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = []
nitpicky = False  # C types of MPI have no page here

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_heading_slug_func = "names.slug"

highlight_language = "text"
c_id_attributes = cpp_id_attributes = ["TONARI_API"]
c_maximum_signature_line_length = 80
cpp_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

smartquotes = False  # --plot is an option

html_theme = "furo"
html_title = f"tonari {release}"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"sidebar_hide_name": False}
copybutton_prompt_text = "$ "
