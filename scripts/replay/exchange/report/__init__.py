"""The report of one data set: what mirroring costs, loses and can carry here, in one self-contained page."""
