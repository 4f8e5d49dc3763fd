"""Earwitness plug-in: a task for tags of recordings, and two trial kinds."""
