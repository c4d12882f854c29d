"""Sphinx settings; ``make docs`` builds the pages without a network."""

import tamis

project = "Tamis"
author = "The Tamis developers"
copyright = "The Tamis developers"
release = version = tamis.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["width.css"]
html_title = f"Tamis {release}"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

default_role = "literal"
autosummary_generate = True
autodoc_typehints = "none"
# Members of a class are listed by the template, so that nothing is listed twice.
numpydoc_show_class_members = False
plot_formats = [("png", 110)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

# No inventory is downloaded, so names of other projects cannot be looked up. Ours must resolve.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(Value|Import|OS)Error|UserWarning"),
    ("py:.*", r"(sklearn|scipy)\..*"),
]


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out what scikit-learn documents, and fields that their class has described."""
    inherited = str(getattr(obj, "__module__", "")).startswith("sklearn")
    return True if inherited or type(obj).__name__ == "_tuplegetter" else None


def setup(app):
    app.connect("autodoc-skip-member", skip_inherited)
