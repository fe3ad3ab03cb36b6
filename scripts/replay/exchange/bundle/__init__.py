"""Puts what a data set found into one file that can be given away: redacted, with digests."""
