"""How the book is built from docs/ (`make book`): Markdown by MyST, pages by Sphinx, looks by Furo."""

from importlib.metadata import version as version_of

project = "eosctl"
copyright = "the eosctl authors"
version = release = version_of("eosctl")

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["examples", "schemas", "proofs", "build"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
# Pages of single checks and categories are reached through their indexes: in the tree they would be on every page.
suppress_warnings = ["misc.highlighting_failure", "toc.not_included"]

html_theme = "furo"
html_title = f"eosctl {version}"
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
