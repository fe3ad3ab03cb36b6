"""Compares data sets with one another: ratios with intervals, in one self-contained page. Pure except at its edges."""
