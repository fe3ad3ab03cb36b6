"""How each kind of experiment is run. A module here is the procedure that an experiment's key `protocol` names.

It holds a `PROTOCOL`, a `Procedure` (replay.measure.procedure): what it needs, its target, its driver, what it watches.
There is no list to extend. What several procedures share is in the packages `targets`, `drivers` and `watches`.
"""
