"""Takes results in from elsewhere, and gives them away: import, compare, bundle, talk."""
