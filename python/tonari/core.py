# SPDX-License-Identifier: BSD-3-Clause
"""Access to the extension module, with a useful sentence where it was not built."""

from __future__ import annotations

from types import ModuleType

from tonari.errors import INTERNAL, Error


def core() -> ModuleType:
    """The extension module _tonari_core."""
    try:
        import _tonari_core
    except ImportError as error:
        raise Error(
            f"the extension module of tonari cannot be loaded ({error}): run `make build`,"
            " which needs Python's headers (Debian: python3-dev) and nanobind",
            INTERNAL,
        ) from None
    return _tonari_core
