"""What Sphinx is told of the site; `build.py` runs it over the pages that it has gathered."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import hopsim

project = "hopsim"
author = "The hopsim developers"
release = hopsim.__version__.partition("+")[0]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# As GitHub has them, so that one link serves both.
myst_heading_anchors = 6

# Single backticks in docstrings are code.
default_role = "code"
highlight_language = "none"
# What stands in quotes is often to be typed.
smartquotes = False
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]

# Tests run the notebooks; pages show what they were saved with.
nb_execution_mode = "off"

html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
# It would be fetched from the pages, which browsers refuse for files in a folder.
html_show_search_summary = False


def _collapsed(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document | None
) -> None:
    """Leave in the navigation of a page what is beside and below it: all of it in 200 pages takes minutes."""
    whole = context["toctree"]

    def near(**options: Any) -> str:
        return whole(**options | {"collapse": True})

    context["toctree"] = near


def setup(app: Sphinx) -> None:
    """Come before the theme, which draws the navigation."""
    app.connect("html-page-context", _collapsed, priority=400)
