"""How each kind of experiment is run. A module here is the protocol that an experiment's key `protocol` names.

It holds a `PROTOCOL`, a `Protocol` (replay.measure.protocol): what it needs, its target, its driver, its observers.
There is no list to extend. What several protocols share is in the packages `targets`, `drivers` and `observers`.
"""
