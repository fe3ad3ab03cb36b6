"""What a cluster says of each image of a pool, as JSON: what the mirror daemons report, or which have a journal.

Run by the system's Python, which has Ceph's module `rbd`, and never imported by Replay itself. `rbd mirror pool status`
opens the images for their statuses; this does not, so a user who only reads may ask, and it also tells what the daemon
of another cluster has reported to this one. Whether an image has a journal is asked by opening it to read.

    argv      CONF CLIENT KEYRING|"" TIMEOUT_SECONDS POOL statuses|journaled
    statuses  [{"name": …, "state": "up+replaying", "description": …, "peer_sites": [{"state": …, "description": …}]}]
    journaled {"looked_at": 3, "names": […]}      the images that were looked at within the time
"""

import json
import sys
import time

PREFIX = "MIRROR_IMAGE_STATUS_STATE_"


def statuses(rbd, pool, ends_at):
    """Return what the mirror daemons say of the pool's images."""
    words = {getattr(rbd, name): name[len(PREFIX) :].lower() for name in dir(rbd) if name.startswith(PREFIX)}

    def told(status):
        up = "up" if status["up"] else "down"
        return {"state": up + "+" + words[status["state"]], "description": status["description"]}

    return [
        {"name": image["name"], **told(image), "peer_sites": [told(site) for site in image["remote_statuses"]]}
        for image in rbd.RBD().mirror_image_status_list(pool)
    ]


def journaled(rbd, pool, ends_at):
    """Return which of the pool's images have the feature `journaling`, and how many were looked at."""
    looked_at, names = 0, []
    for name in rbd.RBD().list(pool):
        if time.monotonic() > ends_at:
            break
        try:
            with rbd.Image(pool, name, read_only=True) as image:
                if image.features() & rbd.RBD_FEATURE_JOURNALING:
                    names.append(name)
        except rbd.ImageNotFound:  # it was removed meanwhile
            continue
        looked_at += 1
    return {"looked_at": looked_at, "names": names}


def main():
    """Print what is known of the pool's images."""
    import rados  # noqa: PLC0415 (only the system's Python has Ceph's modules)
    import rbd  # noqa: PLC0415

    conf, client, keyring, timeout_text, pool, what = sys.argv[1:7]
    ends_at = time.monotonic() + float(timeout_text)
    options = {"client_mount_timeout": timeout_text, "rados_osd_op_timeout": timeout_text}
    if keyring:
        options["keyring"] = keyring
    question = {"statuses": statuses, "journaled": journaled}[what]
    with rados.Rados(name=client, conffile=conf, conf=options) as handle, handle.open_ioctx(pool) as images:
        json.dump(question(rbd, images, ends_at), sys.stdout)


if __name__ == "__main__":
    main()
