# SPDX-License-Identifier: BSD-3-Clause
"""The evaluations of five papers again, each figure beside the published one: tonari reproduce."""
