"""What experiments on replay itself need of a site, and of their variants."""

from __future__ import annotations

from replay.base.errors import ConfigurationError
from replay.cluster.site import Site
from replay.design.design import Design


def lacking_mirror_daemon(site: Site) -> dict[str, str]:
    """Return why the mirror daemon cannot be watched on a site, as `Protocol.lacking` says it; nothing where it can."""
    if site.second_site is not None and site.second_site.mirror_daemon_admin_socket is None:
        return {"second_site": "the site's file names no admin socket of the mirror daemon, whose counters this needs"}
    return lacking_flat_pool(site)


def lacking_flat_pool(site: Site) -> dict[str, str]:
    """Return why fio cannot write to mirrored images on a site; nothing where it can."""
    if site.pools.data.namespace:
        return {"second_site": "fio's rbd engine, which writes here, knows no RADOS namespace"}
    return {}


def check_modes(design: Design) -> None:
    """Refuse variants whose level `mode` is not how their image is mirrored. Raises ConfigurationError."""
    for variant in design.variants:
        mode, mirroring = variant.levels.get("mode"), variant.image.mirroring
        if mirroring is None or mode != mirroring:
            raise ConfigurationError(
                f"{variant.name}: levels.mode is {mode!r}, mirroring is {mirroring!r}",
                where=f"config/experiments/{design.name}.yaml",
                next_step="give each variant `mirroring` and the same word as `levels: { mode: … }`",
            )


def positive_option(design: Design, name: str) -> float:
    """Return an option that is a number above 0. Raises ConfigurationError."""
    value = design.options.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        raise ConfigurationError(
            f"options.{name} is {value!r}, no number above 0", where=f"config/experiments/{design.name}.yaml"
        )
    return float(value)
