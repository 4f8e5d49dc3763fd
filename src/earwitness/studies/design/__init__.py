"""Balanced designs: equivalent subsets of the material and an order for each listener."""
