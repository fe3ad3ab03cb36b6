"""Readers of results that somebody else measured, whatever their file is called. Pure, and as strict as the tools'.

Nobody recorded an exit status: a whole output that agrees with itself speaks for the run.
"""
