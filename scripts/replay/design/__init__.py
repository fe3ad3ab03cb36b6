"""From factors to cells, sets and blocks; sizes and hours."""
