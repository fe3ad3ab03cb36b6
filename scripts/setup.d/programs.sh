# shellcheck shell=bash
# The programs that measuring needs, and the packages of apt that hold them.

# What a client of a cluster runs besides the benchmark tools, whose modules name their programs, and what a cluster
# itself is made of.
client_programs=(ceph)
sandbox_programs=(ceph ceph-mon ceph-osd ceph-mgr rbd-mirror monmaptool ceph-authtool)

# The release for those who may install nothing: that of Debian's stable suite.
release_without_root=18

# Prints the package of a program that is no benchmark tool's: Debian and Ubuntu name all but the browser alike
# (known_name).
package_of() {
  case $1 in
    ceph | ceph-authtool) echo ceph-common ;;
    monmaptool) echo ceph-base ;;
    sshd) echo openssh-server ;;
    *) echo "$1" ;;
  esac
}

has_program() {
  case $1 in
    chromium)
      command -v chromium-headless-shell || command -v chromium || command -v chromium-browser ||
        command -v google-chrome
      ;;
    # Where those who are not root do not look.
    sshd) command -v sshd || [[ -x $system/usr/sbin/sshd ]] ;;
    *) command -v "$1" ;;
  esac >/dev/null
}

# Does apt know a version of this package that can be installed?
has_candidate() {
  local said
  said=$(apt-cache policy "$1" 2>/dev/null) || return 1
  [[ $said == *Candidate:* && $said != *"Candidate: (none)"* ]]
}

# Prints a package's name as this system's lists have it. The browser is Debian's without windows, with which tests take
# less time, or else the usual one, whose name on Ubuntu is another one. A system that has no lists yet knows none.
known_name() {
  local name
  if [[ $1 == chromium ]]; then
    for name in chromium-headless-shell chromium chromium-browser; do
      has_candidate "$name" && echo "$name" && return
    done
  fi
  echo "$1"
}

add_package() {
  [[ " ${packages[*]-} " == *" $1 "* ]] || packages+=("$1")
}

# Adds to `packages` what is missing for `level`; calls present_only when it can not be had here.
plan_programs() {
  local programs=() program package missing="" lacking=() reason
  local python=$checkout/.venv/bin/python tools
  # Without a Python there is no list, and nothing can be measured: plan_python says so.
  [[ -x $python ]] || find_python || return 0
  tools=$(PYTHONPATH=$checkout/scripts "$python" -B -S -m replay.tools.programs) ||
    fail "the programs of the benchmark tools cannot be listed" "see what Python says above"
  case $level in
    client | slurm) programs=("${client_programs[@]}") ;;
    # Tests start an sshd of their own, for clients on other hosts.
    test) programs=("${sandbox_programs[@]}" chromium sshd) ;;
    *) programs=("${sandbox_programs[@]}") ;;
  esac
  while read -r program package _; do
    has_program "$program" && continue
    missing+=" $program"
    lacking+=("${package:-$(package_of "$program")}")
  done < <(printf '%s\n' "${programs[@]}" "$tools")
  [[ -z $missing ]] && return
  local by_hand="install$missing by hand, or use another machine"
  reason=$(host_reason)
  if [[ -n $reason ]]; then
    present_only "$reason" "$by_hand"
  elif ! command -v apt-get >/dev/null; then
    present_only "it has no apt-get, and lacks$missing" "$by_hand"
  elif ! may_install && may_enter_releases; then
    # Replay's own folder of Ceph's programs needs no root: see docs/sandbox.md, Releases. A sandbox runs any release.
    local here=("${REPLAY_RELEASES:-$checkout/.cache/releases}"/[0-9]*/release.json)
    ((${#here[@]})) && return
    release_wanted=$release_without_root
    plan+=("Ceph $release_wanted, unpacked into .cache/releases (0.5 GiB), since you may not install packages")
  elif ! may_install; then
    present_only "you are neither root nor may use sudo without a password, and it lacks$missing" "$by_hand"
  else
    for package in "${lacking[@]}"; do
      add_package "$(known_name "$package")"
    done
    # The ceph command is written in Python and needs these bindings.
    [[ " $missing " == *" ceph "* ]] && add_package python3-rados
    return 0
  fi
}

# May this user see another /usr than the host's, and is there a sandbox to run in it?
may_enter_releases() {
  [[ $level == start || $level == sandbox ]] && command -v dpkg-deb >/dev/null &&
    unshare --map-root-user --mount true 2>/dev/null
}

# Gets the release that a sandbox runs where this user may install nothing.
get_release() {
  local said
  printf '  getting Ceph %s (1 to 5 minutes) … ' "$release_wanted"
  if said=$("$checkout/scripts/sandbox" releases --get "$release_wanted" </dev/null 2>&1); then
    printf 'done\n'
  else
    printf 'failed\n%s\n' "$said" >&2
    present_only "its programs of Ceph could not be had" "do what is named above, or use another machine"
  fi
  printf '%s\n' "$said" >>"$log"
}

# Installs `packages` without their recommendations, and without any of their services being started.
install_packages() {
  local package lists_are_fresh="" absent="" index
  local next="see that the package lists can be updated (apt-get update), then run it again"
  for package in "${packages[@]}"; do
    if ! has_candidate "$package"; then
      logged "updating the package lists" "$next" as_root apt-get update -q
      lists_are_fresh=yes
      break
    fi
  done
  for index in "${!packages[@]}"; do
    packages[index]=$(known_name "${packages[index]}")
    has_candidate "${packages[index]}" || absent+=" ${packages[index]}"
  done
  if [[ -n $absent ]]; then
    packages=()
    present_only "its package sources have no$absent" "use Debian 12 or later, or Ubuntu with universe"
    return
  fi
  # Lists of last month name files that the archive no longer has.
  if [[ -z $lists_are_fresh ]] && ! apt_get --download-only install "${packages[@]}" </dev/null >>"$log" 2>&1; then
    logged "updating the package lists" "$next" as_root apt-get update -q
  fi
  deny_services
  logged "installing ${#packages[@]} packages" "$next" apt_get install "${packages[@]}"
  disable_services
  allow_services
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
}

# Replay starts the daemons it needs itself: until allow_services, no package may start one. A policy that the
# administrator wrote is left as it is.
deny_services() {
  services_policy=$system/usr/sbin/policy-rc.d
  trap allow_services EXIT
  [[ -e $services_policy ]] && ! grep -q "written by Replay's setup" "$services_policy" && return
  as_root mkdir -p "${services_policy%/*}"
  printf '#!/bin/sh\n# written by Replay'\''s setup, removed when it ends\nexit 101\n' |
    as_root tee "$services_policy" >/dev/null
  as_root chmod +x "$services_policy"
}

allow_services() {
  [[ -e $services_policy ]] && grep -q "written by Replay's setup" "$services_policy" &&
    as_root rm -f "$services_policy"
  trap - EXIT
}

# Nor do the services of packages that were just installed start at the next boot.
disable_services() {
  [[ -d $system/run/systemd/system ]] || return 0
  local package units=()
  for package in "${packages[@]}"; do
    case $package in
      ceph-common) units+=(rbdmap.service ceph.target) ;;
      ceph-base | ceph-mon) units+=(ceph-crash.service ceph-mon.target) ;;
      ceph-osd | ceph-mgr) units+=("$package.target") ;;
      rbd-mirror) units+=(ceph-rbd-mirror.target) ;;
      iperf3) units+=(iperf3.service) ;;
      openssh-server) units+=(ssh.service ssh.socket) ;;
    esac
  done
  # A unit that this release does not have is no failure.
  ((${#units[@]} == 0)) || as_root systemctl disable --now --quiet "${units[@]}" >>"$log" 2>&1 || true
}
