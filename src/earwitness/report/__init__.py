"""Report library: parts of a report, rendered in every output medium."""
