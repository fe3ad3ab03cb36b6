"""One script of an administrator's commands, which makes what a site lacks, and undoes what it made. Nothing runs it.

Beside itself the script keeps `SCRIPT.made`: a line for each thing that it made, with what identifies it. `undo`
removes only these, in reverse order, and only while they are still the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import chain

from replay.cluster.admin_commands import AdminCommand, administrator, program
from replay.cluster.site import Site

_HEAD = """\
#!/bin/sh
# Makes what the site {site} lacks, and undoes it. It changes and removes nothing that it did not make itself.
#
#   sh FILE         makes what is missing, and notes each thing in FILE.made
#   sh FILE undo    removes what FILE.made names; run `replay clean --site {site}` before
#
# Status: 0 all done, 1 a command failed (its message is above) or something was left.

notes=$0.made
tab=$(printf '\\t')
left=0

is_noted() {{ [ -e "$notes" ] && grep -qF -e "$1$tab" "$notes"; }}
noted() {{ sed -n "s|^$1$tab||p" "$notes"; }}
note() {{ printf '%s\\t%s\\n' "$1" "$2" >> "$notes" && echo "made: $1"; }}
forget() {{
  grep -vF -e "$1$tab" "$notes" > "$notes.new"
  mv "$notes.new" "$notes" && echo "removed: $1"
}}
failed() {{ echo "failed: $1; nothing after it was made" >&2; exit 1; }}
kept() {{ echo "left: $1: $2" >&2; left=1; }}
"""

_TAIL = """\
case ${1-make} in
  make) make < /dev/null ;;
  undo) undo < /dev/null; [ -s "$notes" ] || rm -f "$notes" ;;
  *) echo "usage: sh $0 [undo]" >&2; exit 2 ;;
esac
exit $left
"""


def setup_script(site: Site, commands: Sequence[AdminCommand], *, in_container: bool = False) -> str:
    """Return the script that makes what `commands` make, or undoes it, in POSIX shell.

    `in_container` calls Ceph's programs through `cephadm shell`, instead of those installed on this machine.
    """
    single = list(chain.from_iterable(command.in_order() for command in commands))
    parts = [_HEAD.format(site=site.name), "make() {"]
    parts += [_made(one) for one in single] or ["  echo 'nothing is missing'"]
    parts += ["}", "", "undo() {"]
    parts += [_undone(one) for one in reversed(single)] or ["  echo 'there is nothing to undo'"]
    text = "\n".join([*parts, "}", "", _TAIL])
    return _in_container(text, site) if in_container else text


def _made(one: AdminCommand) -> str:
    what = shlex.quote(one.what)
    steps = " &&\n".join(f"    {step}" for step in one.steps)
    return (
        f"  if is_noted {what}; then\n    echo {shlex.quote(f'made before: {one.what}')}\n"
        f"  elif {one.absent}; then\n{steps} &&\n"
        f'    identity=$({one.identity}) && note {what} "$identity" || failed {what}\n'
        f"  else\n    echo {shlex.quote(f'not made, because it exists or cannot be asked for: {one.what}')}\n  fi"
    )


def _undone(one: AdminCommand) -> str:
    what = shlex.quote(one.what)
    steps = " &&\n".join(f"      {step}" for step in one.undo)
    return (
        f"  if is_noted {what}; then\n"
        f'    if identity=$({one.identity}) && [ "$identity" = "$(noted {what})" ]; then\n'
        f"{steps} &&\n"
        f"      forget {what} || kept {what} 'it is in use, or Ceph refused (see above)'\n"
        f"    else\n      kept {what} 'it is not the one that was made here, or cannot be seen'\n    fi\n  fi"
    )


def _in_container(script: str, site: Site) -> str:
    """Return the script with each program called through `cephadm shell`, on a host that has the container.

    Files reach the container through its options; `cephadm shell` reads standard input even if its command does not.
    """
    for cluster in filter(None, (site.primary, site.secondary)):
        admin = administrator(cluster)
        options = ["--config", str(admin.conf), *(["--keyring", str(admin.keyring)] if admin.keyring else [])]
        for name in ("ceph", "rbd"):
            inside = shlex.join(["cephadm", "shell", *options, "--", name, "--name", admin.client])
            script = script.replace(f"{program(name, cluster)} ", f"{inside} ")
    return script
