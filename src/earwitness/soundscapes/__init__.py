"""Days made of known sources, so that the truth about them is known."""
