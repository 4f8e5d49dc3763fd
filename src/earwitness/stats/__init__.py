"""Statistics on plain arrays: estimates, intervals, tests and models."""
