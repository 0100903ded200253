#!/usr/bin/env bash
# A Debian forky tree, for the things that the stable releases do not have: Dawn as a package and a current Mesa.
#
#   tools/forky.sh make                  make the tree (root; about two minutes, 2 GB); nothing to do when it is there
#   tools/forky.sh run [options] CMD...  run a command in it, in the folder /build
#   tools/forky.sh ready                 exit 0 when the tree is complete
#
#   --source DIR   folder that appears read-only as /src (default: the repository of this script)
#   --build DIR    folder that appears as /build, made when missing (default: build/dawn of the source)
#
# The tree lies at ${XDG_CACHE_HOME:-~/.cache}/hearth/forky. In it the folder above appears as /root/.cache/hearth, read-only,
# and ccache's folder as /ccache. Example:
#
#   tools/forky.sh run cmake -S /src -B /build -G Ninja -DHEARTH_WEBGPU=dawn -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
#   tools/forky.sh run ninja -j2
#   tools/forky.sh run ctest --output-on-failure
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hearth
root=$cache/forky
mirror=${HEARTH_DEBIAN_MIRROR:-}  # empty: debootstrap knows its own
packages=(libwebgpu-dawn-dev g++ cmake ninja-build ccache libfmt-dev libeigen3-dev nlohmann-json3-dev libcli11-dev libstb-dev
  doctest-dev libpng-dev mesa-vulkan-drivers libvulkan1 python3-minimal ca-certificates)
# The stamp names the recipe: another list of packages is another tree.
stamp=$(printf '%s\n' 1 "${packages[@]}" | sha256sum | cut -c1-16)

say() { printf 'forky: %s\n' "$*" >&2; }
ready() { [ "$(cat "$root/.hearth-stamp" 2>/dev/null)" = "$stamp" ]; }

# Runs a command in the tree with /proc and /dev, in a mount namespace of its own: nothing stays mounted afterwards.
enter() {
  local tree=$1
  shift
  unshare --mount --propagation private bash -euc '
    tree=$1; shift
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    exec chroot "$tree" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive "$@"' enter "$tree" "$@"
}

make_tree() {
  if ready; then return 0; fi
  [ "$(id -u)" = 0 ] || { say "making the tree needs root."; exit 1; }
  command -v debootstrap >/dev/null || { say "debootstrap is missing: apt-get install debootstrap debian-archive-keyring"; exit 1; }
  mkdir -p "$cache"
  exec 9>"$cache/forky.lock"
  flock 9
  if ready; then return 0; fi
  if ! [ -e "$root/.hearth-base" ]; then
    local part="$root.part" scripts=/usr/share/debootstrap/scripts script
    rm -rf --one-file-system "$part"
    # An older debootstrap does not know the name; every Debian release uses the script of sid.
    script=$scripts/forky
    [ -e "$script" ] || script=$scripts/sid
    say "base system (debootstrap, about half a minute)"
    debootstrap --variant=minbase forky "$part" "$mirror" "$script" >"$cache/forky.log" 2>&1 ||
      { tail -n 20 "$cache/forky.log" >&2; say "debootstrap failed; the log is $cache/forky.log"; exit 1; }
    echo 'Acquire::Check-Valid-Until "false"; Acquire::Retries "2"; Acquire::Languages "none";' \
      >"$part/etc/apt/apt.conf.d/90hearth"
    cp -f /etc/resolv.conf "$part/etc/resolv.conf" 2>/dev/null || true
    cp -f /etc/hosts "$part/etc/hosts" 2>/dev/null || true
    for file in /etc/apt/apt.conf.d/*proxy*; do
      if [ -e "$file" ]; then cp "$file" "$part/etc/apt/apt.conf.d/"; fi
    done
    touch "$part/.hearth-base"
    rm -rf --one-file-system "$root"
    mv "$part" "$root"
  fi
  say "packages: ${packages[*]} (about a minute)"
  for attempt in 1 2; do
    if enter "$root" sh -c 'apt-get -q update && apt-get -qy --no-install-recommends -o Dpkg::Options::=--force-unsafe-io install "$@" && apt-get clean' \
      install "${packages[@]}" >>"$cache/forky.log" 2>&1; then
      echo "$stamp" >"$root/.hearth-stamp"
      say "ready: $root"
      return 0
    fi
    say "attempt $attempt failed"
  done
  tail -n 20 "$cache/forky.log" >&2
  say "the packages could not be installed; the log is $cache/forky.log"
  exit 1
}

run_in_tree() {
  local source=$here build=
  while [ $# -gt 0 ]; do
    case $1 in
      --source) source=$(cd "$2" && pwd); shift 2 ;;
      --build) build=$2; shift 2 ;;
      --) shift; break ;;
      *) break ;;
    esac
  done
  [ $# -gt 0 ] || { say "run: no command"; exit 2; }
  ready || { say "the tree is not there: run 'tools/forky.sh make' as root first."; exit 1; }
  [ "$(id -u)" = 0 ] || { say "running in the tree needs root."; exit 1; }
  build=${build:-$source/build/dawn}
  local ccache=${HEARTH_FORKY_CCACHE:-$cache/forky-ccache}
  mkdir -p "$build" "$ccache" "$root/src" "$root/build" "$root/ccache" "$root/root/.cache/hearth"
  # The variables that the tests know travel along.
  local keep=() name
  for name in CI HEARTH_REQUIRE_GPU CTEST_OUTPUT_ON_FAILURE VK_DRIVER_FILES LP_NUM_THREADS; do
    if [ -n "${!name:-}" ]; then keep+=("$name=${!name}"); fi
  done
  unshare --mount --propagation private bash -euc '
    tree=$1 source=$2 build=$3 ccache=$4 cache=$5; shift 5
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    mount --bind "$source" "$tree/src"
    mount -o remount,bind,ro "$tree/src"
    mount --bind "$build" "$tree/build"
    mount --bind "$ccache" "$tree/ccache"
    mount --bind "$cache" "$tree/root/.cache/hearth"
    mount -o remount,bind,ro "$tree/root/.cache/hearth"
    exec chroot "$tree" /usr/bin/env -i -C /build PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CCACHE_DIR=/ccache "$@"
  ' run "$root" "$source" "$(cd "$build" && pwd)" "$ccache" "$cache" "${keep[@]}" "$@"
}

case ${1:-} in
  make) make_tree ;;
  ready) ready ;;
  run) shift; run_in_tree "$@" ;;
  *) sed -n '2,/^set -euo/p' "${BASH_SOURCE[0]}" | sed -n '/^#/s/^# \{0,1\}//p'; exit 2 ;;
esac
