"""Tags of recordings as a task of Earwitness, and trials of listening effort."""
