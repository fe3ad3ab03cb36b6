"""Answers as `session_server.py` does, and says what block devices a pool has.

    stdin     {"id": 1, "target": "rbd", "command": {"prefix": "names"|"facts", "pool": …}, …}
    output    names: the names of the pool's images, also of those in the trash
              facts: namespaces, mirroring, images and trash of the pool and of each of its namespaces

Tests ask this hundreds of times, often of dozens of images: a start of `rbd` for each would cost minutes of CPU.
"""

import importlib.util
import json
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "scripts" / "replay" / "cluster" / "session_server.py"


def pool_facts(handle, command):
    """Return what a pool has, as JSON."""
    import rbd

    device = rbd.RBD()
    with handle.open_ioctx(command["pool"]) as pool:
        if command["prefix"] == "names":
            return sorted([*device.list(pool), *(each["name"] for each in device.trash_list(pool))])
        namespaces = sorted(device.namespace_list(pool))
        found = {"namespaces": namespaces, "mirroring": {}, "images": {}, "trash": {}}
        for namespace in ("", *namespaces):
            pool.set_namespace(namespace)
            where = f"{command['pool']}/{namespace}" if namespace else command["pool"]
            peers = sorted(peer["uuid"] for peer in device.mirror_peer_list(pool))
            found["mirroring"][where] = [device.mirror_mode_get(pool), peers]
            found["trash"][where] = sorted(each["id"] for each in device.trash_list(pool))
            for one in device.list2(pool):
                try:
                    found["images"][f"{where}/{one['name']}"] = {"id": one["id"], **image_facts(rbd, pool, one["name"])}
                except rbd.ImageNotFound:
                    continue  # it was removed meanwhile
        return found


def image_facts(rbd, pool, name):
    """Return what an image is."""
    with rbd.Image(pool, name, read_only=True) as image:
        return {
            "size": image.size(),
            "features": image.features(),
            "mirroring": image.mirror_image_get_info()["state"],
            "snapshots": sorted(each["name"] for each in image.list_snaps()),
        }


def main():
    """Run the server with one more target."""
    specification = importlib.util.spec_from_file_location("session_server", SERVER)
    server = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(server)
    usual = server.perform

    def perform(handle, request):
        if request.get("target") != "rbd":
            return usual(handle, request)
        return {"status": 0, "output": json.dumps(pool_facts(handle, request["command"])), "error": ""}

    server.perform = perform
    server.main()


if __name__ == "__main__":
    main()
