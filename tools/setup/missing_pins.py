# SPDX-License-Identifier: BSD-3-Clause
"""Prints the pins of a requirements file that the running Python's environment does not satisfy,
one per line."""

import sys
from importlib.metadata import PackageNotFoundError, version


def pins(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            pin = line.partition("#")[0].strip()
            if pin:
                yield tuple(pin.split("=="))


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


for name, wanted in pins(sys.argv[1]):
    if installed(name) != wanted:
        print(f"{name}=={wanted}")
