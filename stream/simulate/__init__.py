"""Dealers that deal by the procedure, what they can do wrong, and what their devices can."""
