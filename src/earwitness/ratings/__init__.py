"""What a vote is: scales, rubrics and totals, records of ratings, and readers of their tables."""
