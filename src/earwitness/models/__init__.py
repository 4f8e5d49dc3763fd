"""Embedders, text encoders and speech detectors behind small protocols."""
