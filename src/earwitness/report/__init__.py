"""Report library: parts of a report, rendered in all output formats."""
