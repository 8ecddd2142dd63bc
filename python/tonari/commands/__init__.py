# SPDX-License-Identifier: BSD-3-Clause
"""One module per command; each has register(app)."""
