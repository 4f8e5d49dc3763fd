"""From the ratings of a study to results: who is better, who agrees, and what should not matter."""
