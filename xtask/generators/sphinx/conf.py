project = "Quay"
author = "The harbour masters"
extensions = ["myst_parser", "sphinx_inline_tabs", "sphinx_sitemap"]
html_theme = "furo"
html_title = "Quay"
html_baseurl = "https://quay.test/"
sitemap_url_scheme = "{link}"
exclude_patterns = ["_build", "venv", "tabs.md", "requirements.txt"]
