"""How each kind of experiment is run. A module here is the protocol that an experiment's key `protocol` names.

Its `PROTOCOL` is a `Protocol` (replay.measure.protocol): what it needs, its target, its driver, its observers. A small
one may be in the module of one that is like it, and is then named below. What several protocols share is in the
packages `targets`, `drivers` and `observers`.
"""

#: Where a protocol is that has no module of its name.
ELSEWHERE = {
    "amplification": "single_tool:Amplification",
    "device_class_objects": "device_class:DeviceClassObjects",
    "fio_profile": "multi_client:FioProfile",
    "journal_clients": "multi_client:JournalClients",
    "offered_rate": "multi_client:OfferedRate",
    "snapshot_interval": "write_latency:SnapshotIntervalProtocol",
    "tool_on_file": "single_tool:ToolOnFile",
}
