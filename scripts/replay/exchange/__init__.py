"""Takes results in from elsewhere, and gives them away: import, compare, report, bundle, talk."""
