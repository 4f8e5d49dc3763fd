"""Statistical analysis of ratings, from votes to the results of a study."""
