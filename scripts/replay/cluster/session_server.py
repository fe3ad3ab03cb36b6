"""One long-lived connection to a cluster, spoken to in JSON lines over stdin and stdout.

Run by the system's Python, because the modules `rados` and `rbd` come with Ceph's packages and are not in the
project's environment. It imports nothing but the standard library and these, and is never imported by Replay itself.

    argv      CONF CLIENT KEYRING|"" CONNECT_TIMEOUT_SECONDS
    stdout    {"ready": true, "fsid": …}
              or {"ready": false, "reason": "module"|"connect", "error": …}
    stdin     {"id": 1, "target": "mon"|"mgr"|"osd.3", "command": {"prefix": …}, "timeout_seconds": 30}
              or {"id": 1, "target": "object", "command": {"prefix": "read"|"lock"|"remove", "pool": …,
                  "namespace": …, "object": …, and for lock: "name", "cookie", "description", "seconds", "renew"}, …}
              or {"id": 1, "target": "images", "command": {"prefix": "statuses"|"journaled", "pool": …}, …}
    stdout    {"id": 1, "status": 0, "output": …, "error": …}    status is 0 or a positive errno

It ends as soon as stdin ends, even in the middle of a command, so that it never outlives its parent.
"""

import contextlib
import errno
import json
import os
import queue
import sys
import threading
import time

LONGEST_OBJECT_BYTES = 1000
#: librados' LIBRADOS_LOCK_FLAG_MUST_RENEW: fail instead of taking a lock that is not held any more.
MUST_RENEW = 2
STATE_PREFIX = "MIRROR_IMAGE_STATUS_STATE_"


def say(message):
    """Write a whole message at once."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def read_requests(requests):
    """Queue each line of stdin; end the process at its end (a command in the C library cannot be interrupted)."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def connect(rados, conf, client, keyring, timeout_seconds):
    """Return a connected handle whose operations are themselves bounded in time."""
    options = {"client_mount_timeout": str(timeout_seconds)}
    if keyring:
        options["keyring"] = keyring
    handle = rados.Rados(name=client, conffile=conf, conf=options)
    handle.connect(timeout=timeout_seconds)
    return handle


def perform(handle, request):
    """Run one request and return its reply."""
    command = json.dumps(request["command"])
    target = request["target"]
    timeout_seconds = int(request["timeout_seconds"]) or 1
    if target == "object":
        return use_object(handle, request["command"], timeout_seconds)
    if target == "images":
        return tell_of_images(handle, request["command"], timeout_seconds)
    if target.startswith("osd."):
        status, output, error = handle.osd_command(int(target[4:]), command, b"", timeout=timeout_seconds)
    else:
        ask = handle.mgr_command if target == "mgr" else handle.mon_command
        status, output, error = ask(command, b"", timeout=timeout_seconds)
    return {"status": abs(status), "output": output.decode("utf-8", "replace"), "error": error}


@contextlib.contextmanager
def opened(handle, pool, timeout_seconds):
    """Open a pool for operations within a time: without it, a full pool would hold the connection for ever."""
    handle.conf_set("rados_osd_op_timeout", str(timeout_seconds))
    try:
        with handle.open_ioctx(pool) as open_pool:
            yield open_pool
    finally:
        handle.conf_set("rados_osd_op_timeout", "0")


def use_object(handle, command, timeout_seconds):
    """Read, lock or remove one object."""
    with opened(handle, command["pool"], timeout_seconds) as pool:
        pool.set_namespace(command["namespace"])
        name, text = command["object"], ""
        if command["prefix"] == "read":
            text = pool.read(name, LONGEST_OBJECT_BYTES).decode("utf-8", "replace")
        elif command["prefix"] == "lock":
            flags = MUST_RENEW if command["renew"] else 0
            words = (command["name"], command["cookie"], command["description"], int(command["seconds"]))
            pool.lock_exclusive(name, *words, flags)
        else:
            pool.remove_object(name)
    return {"status": 0, "output": json.dumps({"text": text}), "error": ""}


def tell_of_images(handle, command, timeout_seconds):
    """Return what the mirror daemons say of a pool's images, or which of them have a journal."""
    try:
        import rbd  # noqa: PLC0415 (a session that asks for no images needs no such module)
    except ImportError:
        return {"status": errno.ENOTSUP, "output": "", "error": "this needs the package python3-rbd"}

    ends_at = time.monotonic() + timeout_seconds
    with opened(handle, command["pool"], timeout_seconds) as pool:
        told = statuses(rbd, pool) if command["prefix"] == "statuses" else journaled(rbd, pool, ends_at)
    return {"status": 0, "output": json.dumps(told), "error": ""}


def statuses(rbd, pool):
    """Return `[{"name": …, "state": "up+replaying", "description": …, "peer_sites": [{"state": …, …}]}]`.

    `rbd mirror pool status` opens the images for their statuses; this does not, so a user who only reads may ask, and
    it also tells what the daemon of another cluster has reported to this one.
    """
    states = [name for name in dir(rbd) if name.startswith(STATE_PREFIX)]
    words = {getattr(rbd, name): name[len(STATE_PREFIX) :].lower() for name in states}

    def told(status):
        up = "up" if status["up"] else "down"
        return {"state": up + "+" + words[status["state"]], "description": status["description"]}

    return [
        {"name": image["name"], **told(image), "peer_sites": [told(site) for site in image["remote_statuses"]]}
        for image in rbd.RBD().mirror_image_status_list(pool)
    ]


def journaled(rbd, pool, ends_at):
    """Return the names of the images with a journal, and how many were `looked_at` within the time, by opening them."""
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
    """Connect, then answer requests until stdin ends."""
    conf, client, keyring, timeout_text = sys.argv[1:5]
    requests = queue.Queue()
    threading.Thread(target=read_requests, args=(requests,), daemon=True).start()
    try:
        import rados  # noqa: PLC0415 (its absence is an answer, not a crash)
    except ImportError as error:
        say({"ready": False, "reason": "module", "error": str(error)})
        return
    try:
        handle = connect(rados, conf, client, keyring, int(float(timeout_text)) or 1)
    except Exception as error:
        say({"ready": False, "reason": "connect", "error": str(error)})
        os._exit(1)
    say({"ready": True, "fsid": handle.get_fsid()})
    while True:
        request = json.loads(requests.get())
        try:
            reply = perform(handle, request)
        except Exception as error:
            reply = {"status": abs(getattr(error, "errno", None) or 5), "output": "", "error": str(error)}
        reply["id"] = request["id"]
        say(reply)


if __name__ == "__main__":
    main()
