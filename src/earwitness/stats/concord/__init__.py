"""How well metrics agree with people, in numbers alone, for many metrics and draws at once."""
