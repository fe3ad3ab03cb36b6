"""How each kind of experiment is run: what it needs, its target, its driver, what it watches."""
