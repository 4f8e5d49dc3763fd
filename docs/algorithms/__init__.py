"""Slow, plain versions of every fast kernel: the documentation of what is computed, and the oracle
that the tests hold the kernels to. Nothing here is clever, and nothing here imports Earwitness."""
