"""Running programs: bounded in time, together, in the background, on other hosts."""
