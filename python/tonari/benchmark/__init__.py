# SPDX-License-Identifier: BSD-3-Clause
"""Launching tonari_bench and reading what it found; drawing it."""
