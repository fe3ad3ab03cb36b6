"""Which cipher a user's key is for. Before Ceph 20 there was one; a new cluster of it allows another alone."""

from __future__ import annotations

import base64
import binascii
import configparser
import errno
import struct
from pathlib import Path

from replay.base.invocation import replay_command
from replay.cluster.cluster import Cluster
from replay.raw.provenance import program_version, short_version

#: Types of keys, as their first two bytes name them: Ceph's names of their ciphers.
AES, AES256K = 1, 2
#: The first release that reads and accepts keys of the second type.
SINCE = 20


def key_type(keyring: Path, client: str) -> int | None:
    """Return the type of a user's key in a keyring; None where the keyring has none that can be read."""
    found = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        found.read_string(keyring.read_text(encoding="utf-8"))
        return struct.unpack_from("<H", base64.b64decode(found[client]["key"], validate=True))[0]
    except (OSError, UnicodeDecodeError, configparser.Error, KeyError, binascii.Error, struct.error):
        return None


def why_refused(cluster: Cluster, number: int) -> str:
    """Return what the user's key has to do with an error of connecting, `number`; empty where it has nothing.

    A client that does not know a key's cipher cannot read the keyring, and says EIO. A key for the cipher that a
    cluster does not allow is refused with EACCES, like a wrong one: nothing that the client says tells the two apart.
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
            f"if `ceph mon dump` names aes256k alone in auth_allowed_ciphers, no key for the older cipher aes, as this "
            f"one is, is accepted: have an administrator make the user anew, and use a client of Ceph {SINCE}"
        )
    return ""
