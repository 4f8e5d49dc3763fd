"""Earwitness plug-in: a task for tags of recordings, and listening effort trials."""
