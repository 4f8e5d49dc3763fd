"""The version of Earwitness."""

__version__ = "0.1.0"
