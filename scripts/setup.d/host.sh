# shellcheck shell=bash
# What kind of system this is: may anything be installed on it, and by whom? Only reads.

# Prints why nothing may be installed on this host: it belongs to a Ceph cluster, or runs virtual machines.
# Prints nothing for a host that is free of both.
host_reason() {
  local path name
  if [[ -d $system/etc/pve ]]; then
    echo "it is a Proxmox host (/etc/pve exists)"
    return
  fi
  for path in "$system"/etc/ceph/*.conf; do
    echo "it already is part of a Ceph cluster (${path#"$system"} exists)"
    return
  done
  # Daemons' data: of packages (mon/ceph-a), of cephadm (the cluster's id) and of Rook.
  for path in "$system"/var/lib/ceph/{mon,osd,mgr,mds,radosgw}/*/ "$system"/var/lib/ceph/*-*-*-*-*/ "$system"/var/lib/rook/*/; do
    path=${path%/}
    echo "it already is part of a Ceph cluster (${path#"$system"} exists)"
    return
  done
  for path in "$system"/proc/[0-9]*; do
    # A process may be gone by now.
    { read -r name <"$path/comm"; } 2>/dev/null || continue
    case $name in
      qemu-system-* | qemu-kvm | kvm | libvirtd | virtqemud | VBoxHeadless | vmware-vmx | firecracker | cloud-hyperviso)
        echo "it runs virtual machines (process $name, pid ${path##*/})"
        return
        ;;
      ceph-mon | ceph-osd | ceph-mgr | ceph-mds | radosgw | rbd-mirror)
        belongs_to_sandbox "$path" && continue
        echo "it already is part of a Ceph cluster (process $name, pid ${path##*/})"
        return
        ;;
    esac
  done
}

# Is the Ceph daemon with this /proc folder one of a sandbox? A sandbox's daemons name a configuration file of their
# own; those of a cluster use /etc/ceph, or say none at all. One that has ended, and that nobody waited for, has no command
# line: in a container that stays so.
belongs_to_sandbox() {
  local word previous="" conf=""
  while IFS= read -r -d '' word; do
    case $word in
      --conf=*) conf=${word#--conf=} ;;
      *) [[ $previous == -c || $previous == --conf ]] && conf=$word ;;
    esac
    previous=$word
  done 2>/dev/null <"$1/cmdline" || true
  [[ -z $previous ]] && return
  [[ $conf == /* && $conf != /etc/* && $conf != /var/lib/ceph/* && $conf != /var/lib/rook/* ]]
}

is_root() { [[ $(id -u) == 0 ]]; }

# Root, or sudo that asks for no password.
may_install() { is_root || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }

as_root() {
  if is_root; then "$@"; else sudo -n "$@"; fi
}

# at_least 20.19.1 20.19: is the first version the second or later?
at_least() {
  local -a have want
  local i
  IFS=. read -r -a have <<<"$1"
  IFS=. read -r -a want <<<"$2"
  for i in "${!want[@]}"; do
    ((10#${have[i]:-0} > 10#${want[i]})) && return 0
    ((10#${have[i]:-0} < 10#${want[i]})) && return 1
  done
  return 0
}
