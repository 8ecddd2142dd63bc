# SPDX-License-Identifier: BSD-3-Clause
"""What commands show on a terminal."""
