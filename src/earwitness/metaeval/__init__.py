"""Meta-evaluation: agreement of metrics with human ratings."""
