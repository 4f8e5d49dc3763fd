"""How far metrics agree with people: scores joined with ratings, whatever the field."""
