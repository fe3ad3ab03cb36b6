"""fio clients with every daemon of the cluster watched while their load is steady."""

from __future__ import annotations

from dataclasses import replace

from replay.protocols.multi_client import MultiClient
from replay.protocols.observers.daemons import SteadyDaemons


class FioProfile(MultiClient):
    """Runs `multi_client`'s cells and adds, as `samples.daemons`, what each daemon did in the steady part."""

    needs = replace(MultiClient.needs, osd_counters="may")
    observers = (SteadyDaemons(),)


PROTOCOL = FioProfile
