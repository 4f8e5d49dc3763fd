"""Speech summaries: the task of summarizing a transcript, by extraction or in free wording."""
