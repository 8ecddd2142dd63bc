# SPDX-License-Identifier: BSD-3-Clause
"""The report: one file of HTML that needs no other."""
