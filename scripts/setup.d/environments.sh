# shellcheck shell=bash
# The checkout's own Python environment, .venv, by uv. It follows a lock file; a stamp inside of it holds the digest of the
# lock that it was made from, and so disappears together with it.

wanted_python=3.11
wanted_uv=0.13.8

digest() {
  if command -v sha256sum >/dev/null; then cat "$@" | sha256sum; else cat "$@" | shasum -a 256; fi | cut -d ' ' -f 1
}

stamp_matches() {
  local stamped
  { read -r stamped <"$1"; } 2>/dev/null && [[ $stamped == "$2" ]]
}

# Sets python_stale when .venv is not what uv.lock says, and finds the Python to make it from.
plan_python() {
  # The environment finds Replay by the checkout's path, which is another one in a copy and after a move.
  python_digest=$(digest "$checkout/uv.lock" "$checkout/pyproject.toml" <(cd "$checkout" && pwd -P))
  # The plugin for Slurm stays where it was once asked for.
  python_extras=()
  if [[ $level == slurm || -e $checkout/.venv/.replay-slurm ]]; then python_extras=(--extra slurm); fi
  [[ -x $checkout/.venv/bin/python ]] && stamp_matches "$checkout/.venv/.replay-stamp" "$python_digest" &&
    [[ $level != slurm || -e $checkout/.venv/.replay-slurm ]] && return
  if ! find_python; then
    without_python "$python_problem" "$python_next"
    return
  fi
  python_stale=yes
  plan+=("the Python environment .venv in this checkout (uv.lock)")
  usable_uv >/dev/null || plan_uv
}

# Fails where there can be no Python environment, unless the deck can be presented, which needs none.
without_python() {
  [[ $level == start ]] || fail "$1" "$2"
  plan=() python_stale="" release_wanted=""
  present_only "$1" "$2"
}

# Sets `python` to the first Python that is new enough, else python_problem and python_next.
find_python() {
  local name path version oldest=""
  for name in python3 python3.{14,13,12,11}; do
    path=$(command -v "$name") || continue
    version=$("$path" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue
    if at_least "$version" "$wanted_python"; then
      python=$path
      return 0
    fi
    oldest=${oldest:-"Python $version ($path) is too old"}
  done
  python_problem="${oldest:-Python is missing}: Replay needs $wanted_python or later"
  python_next="install your distribution's python3, if new enough, or get one from https://www.python.org/downloads"
  return 1
}

# Prints a uv that reads this lock file: the person's own, else the one in .cache.
usable_uv() {
  local candidate version
  for candidate in "$(command -v uv || true)" "$checkout/.cache/uv-env/bin/uv"; do
    [[ -x $candidate ]] || continue
    version=$("$candidate" --version 2>/dev/null) || continue
    version=${version#uv }
    at_least "${version%% *}" "${wanted_uv%.*}" || continue
    echo "$candidate"
    return
  done
  return 1
}

# uv comes from PyPI, into an environment of its own. Debian keeps the module that makes one in a package.
plan_uv() {
  plan+=("uv $wanted_uv in .cache/uv-env")
  "$python" -c 'import venv, ensurepip' 2>/dev/null && return
  local package
  package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  if [[ -z $restricted ]] && [[ -z $(host_reason) ]] && command -v apt-get >/dev/null && may_install; then
    add_package "$package"
  else
    without_python "this Python cannot make environments" "install uv, or ask an administrator to install $package"
  fi
}

make_python_environment() {
  local uv online="see that this machine is online, then run it again"
  if ! uv=$(usable_uv); then
    # A half-made environment is made anew.
    logged "making .cache/uv-env" "$online" "$python" -m venv --clear "$checkout/.cache/uv-env"
    logged "installing uv $wanted_uv" "$online" \
      "$checkout/.cache/uv-env/bin/python" -m pip install --disable-pip-version-check "uv==$wanted_uv"
    uv=$checkout/.cache/uv-env/bin/uv
  fi
  # The Python of this system is used, never one that uv would download. Compiled once here, the packages load three
  # times as fast, also where the environment forbids Python to write bytecode.
  logged "uv sync" "$online; after an edit of pyproject.toml, first: $(printf %q "$uv") lock" \
    env -u VIRTUAL_ENV UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT="$checkout/.venv" \
    "$uv" sync --locked --compile-bytecode --project "$checkout" --python "$python" "${python_extras[@]}"
  ((${#python_extras[@]} == 0)) || : >"$checkout/.venv/.replay-slurm"
  echo "$python_digest" >"$checkout/.venv/.replay-stamp"
}
