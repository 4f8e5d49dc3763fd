"""Speech summaries: the task of keeping words of a transcript."""
