# SPDX-License-Identifier: BSD-3-Clause
"""Fetches one file of a PyPI project, checked by its SHA-256: fetch_pypi.py PROJECT FILENAME SHA256
DESTINATION

For the two cases where pip cannot do it: pip itself on a Python without ensurepip, and a file out
of a source package that must not be built. Uses the index that pip would use (PIP_INDEX_URL, pip's
configuration files; PIP_CERT)
and only the standard library.
"""

import configparser
import hashlib
import os
import ssl
import sys
import urllib.parse
import urllib.request
from html.parser import HTMLParser


def pip_setting(name):
    """A setting of pip: environment first, then the user's file, then the machine's, as pip orders
    them."""
    if value := os.environ.get("PIP_" + name.upper().replace("-", "_")):
        return value
    config_home = os.environ.get("XDG_CONFIG_HOME", os.path.expanduser("~/.config"))
    files = [
        "/etc/pip.conf",
        os.path.expanduser("~/.pip/pip.conf"),
        os.path.join(config_home, "pip/pip.conf"),
        os.environ.get("PIP_CONFIG_FILE", ""),
    ]
    config = configparser.ConfigParser(interpolation=None)
    config.read(filter(None, files))
    return config.get("install", name, fallback=None) or config.get("global", name, fallback=None)


def open_url(url):
    context = ssl.create_default_context(cafile=pip_setting("cert"))
    return urllib.request.urlopen(url, timeout=60, context=context)


class Links(HTMLParser):
    """Collects the targets of all links of a page of the simple index (PEP 503)."""

    def __init__(self):
        super().__init__()
        self.targets = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.targets += [value for key, value in attrs if key == "href"]


def find(project, filename):
    index = pip_setting("index-url") or "https://pypi.org/simple"
    page = f"{index.rstrip('/')}/{project}/"
    links = Links()
    with open_url(page) as answer:
        links.feed(answer.read().decode())
    for target in links.targets:
        url = urllib.parse.urldefrag(urllib.parse.urljoin(page, target)).url
        if urllib.parse.unquote(url).endswith("/" + filename):
            return url
    sys.exit(f"{page} does not list {filename}")


def main(project, filename, sha256, destination):
    try:
        with open_url(find(project, filename)) as answer:
            data = answer.read()
    except OSError as problem:
        sys.exit(f"cannot fetch {filename} from the package index: {problem}")
    if hashlib.sha256(data).hexdigest() != sha256:
        sys.exit(f"{filename} from the package index does not have the expected checksum")
    with open(destination, "wb") as file:
        file.write(data)


main(*sys.argv[1:])
