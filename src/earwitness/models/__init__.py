"""Embedders and text encoders behind small protocols."""
