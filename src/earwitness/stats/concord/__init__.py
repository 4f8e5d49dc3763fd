"""How well metrics agree with people, in numbers alone."""
