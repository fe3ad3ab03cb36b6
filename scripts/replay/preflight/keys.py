"""Which cipher a user's key is for. Before Ceph 20 there was only one; a new cluster of 20 allows only the other."""

from __future__ import annotations

import base64
import binascii
import configparser
import errno
import struct
from pathlib import Path

from replay.base.invocation import replay_command
from replay.cluster.cluster import Cluster
from replay.evidence.record import program_version, short_version

#: Types of keys, which their first two bytes state, by Ceph's names for the ciphers.
AES, AES256K = 1, 2
#: The first release that reads and accepts keys of the second type.
SINCE = 20


def key_type(keyring: Path, client: str) -> int | None:
    """Return the type of a user's key in a keyring; None if the keyring has no readable key of the user."""
    found = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        found.read_string(keyring.read_text(encoding="utf-8"))
        return struct.unpack_from("<H", base64.b64decode(found[client]["key"], validate=True))[0]
    except (OSError, UnicodeDecodeError, configparser.Error, KeyError, binascii.Error, struct.error):
        return None


def why_refused(cluster: Cluster, number: int) -> str:
    """Return how the user's key explains that connecting failed with error `number`; empty if it does not.

    A client that does not know a key's cipher cannot read the keyring, and reports EIO. A cluster that does not allow a
    key's cipher refuses the key with EACCES, like a wrong key; the client cannot tell the two apart.
    """
    kind = key_type(cluster.keyring, cluster.client) if cluster.keyring else None
    if number == errno.EIO and kind == AES256K:
        version = short_version(program_version("ceph", cluster.programs))
        return (
            f"the key in {cluster.keyring} is for the cipher aes256k, which only clients of Ceph {SINCE} or later "
            f"know, and this one is {version or 'of an unknown version'}: install ceph-common of release {SINCE}, or "
            f"run {replay_command('sandbox', 'releases', '--get', str(SINCE))} and write client_release: {SINCE} in "
            f"the site's file ({cluster.name} cluster)"
        )
    if number in (errno.EACCES, errno.EPERM) and kind == AES:
        return (
            f"if `ceph mon dump` lists only aes256k in auth_allowed_ciphers, the cluster accepts no key for the older "
            f"cipher aes, such as this one: ask an administrator to create the user again, and use a client of Ceph "
            f"{SINCE}"
        )
    return ""
