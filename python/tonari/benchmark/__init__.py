"""Launching tonari_bench and reading what it found; drawing it."""
