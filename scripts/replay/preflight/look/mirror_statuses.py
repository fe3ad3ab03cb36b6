"""What the mirror daemons say of each image of a pool, as JSON: `rbd mirror pool status` opens the images for that.

Run by the system's Python, which has Ceph's module `rbd`, and never imported by Replay itself. It opens no image, so a
user who only reads may ask, and it also tells what the daemon of another cluster has reported to this one.

    argv      CONF CLIENT KEYRING|"" TIMEOUT_SECONDS POOL
    stdout    [{"name": …, "state": "up+replaying", "description": …, "peer_sites": [{"state": …, "description": …}]}]
"""

import json
import sys

PREFIX = "MIRROR_IMAGE_STATUS_STATE_"


def told(status, words):
    """Return a status in the words of the program `rbd`."""
    up = "up" if status["up"] else "down"
    return {"state": up + "+" + words[status["state"]], "description": status["description"]}


def main():
    """Print what is known of the pool's images."""
    import rados  # noqa: PLC0415 (only the system's Python has Ceph's modules)
    import rbd  # noqa: PLC0415

    conf, client, keyring, timeout_text, pool = sys.argv[1:6]
    options = {"client_mount_timeout": timeout_text, "rados_osd_op_timeout": timeout_text}
    if keyring:
        options["keyring"] = keyring
    words = {getattr(rbd, name): name[len(PREFIX) :].lower() for name in dir(rbd) if name.startswith(PREFIX)}
    with rados.Rados(name=client, conffile=conf, conf=options) as handle, handle.open_ioctx(pool) as images:
        found = [
            {
                "name": one["name"],
                **told(one, words),
                "peer_sites": [told(site, words) for site in one["remote_statuses"]],
            }
            for one in rbd.RBD().mirror_image_status_list(images)
        ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
