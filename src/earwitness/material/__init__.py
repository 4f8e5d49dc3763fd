"""Listening material: cutting clips, levelling files, reference conditions."""
