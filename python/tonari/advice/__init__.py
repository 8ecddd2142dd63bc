# SPDX-License-Identifier: BSD-3-Clause
"""What `tonari advise` makes of the records of a watched job."""
