"""Systems that make outputs themselves, as papers describe them."""
