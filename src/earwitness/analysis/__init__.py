"""From votes to results: settings, preparation, screening, statistics and report."""
