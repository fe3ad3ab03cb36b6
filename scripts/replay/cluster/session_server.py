"""One long-lived connection to a cluster, spoken to in JSON lines over stdin and stdout.

Run by the system's Python, because the `rados` module comes with Ceph's packages and is not in the project's
environment. It imports nothing but the standard library and `rados`, and is never imported by Replay itself.

    argv      CONF CLIENT KEYRING|"" CONNECT_TIMEOUT_SECONDS
    stdout    {"ready": true, "fsid": …}
              or {"ready": false, "reason": "module"|"connect", "error": …}
    stdin     {"id": 1, "target": "mon"|"mgr"|"osd.3", "command": {"prefix": …}, "timeout_seconds": 30}
              or {"id": 1, "target": "object", "command": {"prefix": "read"|"lock"|"remove", "pool": …,
                  "namespace": …, "object": …, and for lock: "name", "cookie", "description", "seconds", "renew"}, …}
    stdout    {"id": 1, "status": 0, "output": …, "error": …}    status is 0 or a positive errno

It ends as soon as stdin ends, even in the middle of a command, so that it never outlives its parent.
"""

import json
import os
import queue
import sys
import threading

LONGEST_OBJECT_BYTES = 1000
#: librados' LIBRADOS_LOCK_FLAG_MUST_RENEW: fail instead of taking a lock that is not held any more.
MUST_RENEW = 2


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
    if target.startswith("osd."):
        status, output, error = handle.osd_command(int(target[4:]), command, b"", timeout=timeout_seconds)
    else:
        ask = handle.mgr_command if target == "mgr" else handle.mon_command
        status, output, error = ask(command, b"", timeout=timeout_seconds)
    return {"status": abs(status), "output": output.decode("utf-8", "replace"), "error": error}


def use_object(handle, command, timeout_seconds):
    """Read, lock or remove one object, within a time: without it, a full pool would hold the connection for ever."""
    handle.conf_set("rados_osd_op_timeout", str(timeout_seconds))
    try:
        with handle.open_ioctx(command["pool"]) as pool:
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
    finally:
        handle.conf_set("rados_osd_op_timeout", "0")
    return {"status": 0, "output": json.dumps({"text": text}), "error": ""}


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
