"""Slow reference implementations of every fast kernel.

They document what is computed, and the tests compare the kernels with them. They are written for
clarity, not speed, and do not import Earwitness.
"""
