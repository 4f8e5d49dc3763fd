"""Balanced designs: equivalent subsets of the material, and an order for every listener."""

from earwitness.listening.design.orders import listener_order
from earwitness.listening.design.subsets import equivalent_subsets

__all__ = ["equivalent_subsets", "listener_order"]
