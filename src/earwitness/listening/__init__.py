"""Studies with listeners: who hears what, and when."""
