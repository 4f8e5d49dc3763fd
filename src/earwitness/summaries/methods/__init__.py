"""Methods that make summaries."""
