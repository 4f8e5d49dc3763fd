"""Files in and out: every problem of a file at once, with its line and field."""
