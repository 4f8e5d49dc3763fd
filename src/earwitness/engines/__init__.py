"""Execution engines: ways to distribute work, each an implementation of Map."""
