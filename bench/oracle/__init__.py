"""Comparisons of the alignment with others, and how far it has to search."""
