"""Readers of results that somebody else measured, whatever their files are called. Pure, and as strict as the tools.

Nobody recorded an exit status, so a run counts as successful if its output is complete and consistent.
"""
