"""Compares data sets with one another: ratios with intervals, as one page that stands alone. Pure but for its edges."""
