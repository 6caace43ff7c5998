project = "Quay"
author = "The harbour masters"
copyright = "Build 1001 of 2026-03-01"
extensions = ["myst_parser", "sphinx_inline_tabs", "sphinx_sitemap"]
myst_enable_extensions = ["deflist"]
html_theme = "furo"
html_theme_options = {"navigation_with_keys": False}
html_title = "Quay"
html_baseurl = "https://quay.test/"
sitemap_url_scheme = "{link}"
# The page is noindex.
sitemap_excludes = ["search.html"]
exclude_patterns = ["_build", "venv", "tabs.md", "requirements.txt"]
