# Set-up for ./hearth, which sources this file: packages, wgpu-native, the demo's model and photos. Each step looks first
# whether its part is there, so that a second run does nothing and needs no network.
# shellcheck shell=bash

cache=${XDG_CACHE_HOME:-$HOME/.cache}/hearth

# Packages by use. "command=package" is present when the command is; a bare name when dpkg says so.
packages_build=(g++=g++ cmake=cmake ninja=ninja-build ccache=ccache libfmt-dev libeigen3-dev nlohmann-json3-dev libcli11-dev
  libstb-dev libvulkan1 python3=python3)
packages_test=(doctest-dev clang-format-14=clang-format-14 setarch=util-linux)
packages_dawn=(debootstrap=debootstrap debian-archive-keyring)

say() {
  if [ -t 2 ]; then printf '\033[1mhearth: %s\033[0m\n' "$*" >&2; else printf 'hearth: %s\n' "$*" >&2; fi
}
fail() {
  say "$*"
  exit 1
}

# The command that makes a command run as root: nothing, sudo, or failure.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif sudo -n true 2>/dev/null; then sudo -n "$@"; else return 1; fi
}
can_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

installed() {
  case $1 in
    *=*) command -v "${1%%=*}" >/dev/null 2>&1 ;;
    *) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
  esac
}

# need_packages NAME...: installs those that are missing, or says which and ends.
need_packages() {
  local entry missing=()
  if ! command -v dpkg-query >/dev/null 2>&1; then
    [ "${HEARTH_SKIP_PACKAGES:-}" = 1 ] && return 0
    fail "this is no Debian or Ubuntu. Install the equivalents of these packages and run again with HEARTH_SKIP_PACKAGES=1:
  ${*//*=/}"
  fi
  for entry in "$@"; do
    installed "$entry" || missing+=("${entry#*=}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! can_be_root || ! command -v apt-get >/dev/null; then
    fail "these packages are missing, and this user may not install them (no root, no sudo without a password). Run
  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}
and then this command again."
  fi
  say "installing with apt: ${missing[*]}"
  local log attempt
  log=$(mktemp)
  for attempt in 1 2; do
    if as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >"$log" 2>&1 &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 </dev/null; then
      rm -f "$log"
      return 0
    fi
    say "apt-get failed (attempt $attempt)"
  done
  tail -n 30 "$log" >&2
  fail "apt-get could not install: ${missing[*]}. Its log is $log"
}

need_versions() {
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" = 3.25 ] ||
    fail "cmake $version is too old: 3.25 or newer is needed (Debian 12, Ubuntu 24.04, or 'pip install cmake')."
}

# A Vulkan driver is a file in one of the loader's folders; without any, Mesa's software driver is installed.
have_vulkan_driver() {
  [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && return 0
  local folder
  for folder in /usr/share/vulkan/icd.d /usr/local/share/vulkan/icd.d /etc/vulkan/icd.d "$HOME/.local/share/vulkan/icd.d" \
    /usr/local/etc/vulkan/icd.d /usr/local/nvidia/share/vulkan/icd.d; do
    if compgen -G "$folder/*.json" >/dev/null; then return 0; fi
  done
  return 1
}

# Everything that a command needs, in one go. Arguments: packages beside those of the build.
setup_packages() {
  local wanted=("${packages_build[@]}" "$@")
  if ! have_vulkan_driver; then
    say "no Vulkan driver: Mesa's software driver (lavapipe) will do"
    wanted+=(mesa-vulkan-drivers)
  fi
  # What the downloads need, where they are still to be made.
  if ! have_stamp "$(wgpu_root)" || ! have_stamp "$cache/photos"; then
    python3 -m pip --version >/dev/null 2>&1 || wanted+=(python3-pip)
  fi
  have_stamp "$cache/esrgan-slim-1.0.0" || wanted+=(npm=npm)
  need_packages "${wanted[@]}"
  need_versions
}
have_stamp() { [ -n "${HEARTH_WEBGPU_ROOT:-}" ] && [ "$1" = "$HEARTH_WEBGPU_ROOT" ] || [ -s "$1/stamp" ]; }

# Runs a command in a folder of its own inside the cache, removed afterwards. The folder is $work.
in_work_folder() {
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/work.XXXXXX")
  local rc=0
  "$@" || rc=$?
  rm -rf "$work"
  return $rc
}

# Downloads the wheel `$1` (name==version) by pip for platform $2; the file must have sha256 $3. Prints its path.
fetch_wheel() {
  printf '%s --hash=sha256:%s\n' "$1" "$3" >"$work/requirements.txt"
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes --implementation cp \
    --python-version 3.11 --platform "$2" -d "$work" -r "$work/requirements.txt" >&2 </dev/null ||
    { say "pip could not download $1 (or its hash is not the expected one)"; return 1; }
  printf '%s\n' "$work"/*.whl
}

wgpu_root() { printf '%s\n' "${HEARTH_WEBGPU_ROOT:-$cache/wgpu-native-0.32}"; }

setup_wgpu() {
  local root machine platform hash
  root=$(wgpu_root)
  if [ -n "${HEARTH_WEBGPU_ROOT:-}" ]; then
    [ -e "$root/include/webgpu/webgpu.h" ] || fail "HEARTH_WEBGPU_ROOT=$root has no include/webgpu/webgpu.h"
    return 0
  fi
  machine=$(uname -s)-$(uname -m)
  case $machine in
    Linux-x86_64) platform=manylinux_2_28_x86_64 hash=6499a31b5a29a10b4f1089fea4a0806411f42605fa86b6c0b543a07ca0de8568 ;;
    Linux-aarch64) platform=manylinux_2_28_aarch64 hash=00454ba1bc794d38c8365f4ad29f381b88ce0a7f115133bfaa6f1dfad7eb2764 ;;
    *) fail "there is no wgpu-native for $machine here: unpack one and set HEARTH_WEBGPU_ROOT to its folder." ;;
  esac
  [ "$(cat "$root/stamp" 2>/dev/null)" = "$hash" ] && return 0
  say "wgpu-native: downloading the wheel wgpu 0.32.0 (4 MB)"
  unpack_wgpu() {
    local wheel
    wheel=$(fetch_wheel wgpu==0.32.0 "$platform" "$hash") || return 1
    python3 -m zipfile -e "$wheel" "$work/wheel"
    mkdir -p "$root/include/webgpu" "$root/lib"
    mv -f "$work/wheel/wgpu/resources/"{webgpu.h,wgpu.h} "$root/include/webgpu/"
    mv -f "$work/wheel/wgpu/resources/libwgpu_native-release.so" "$root/lib/libwgpu_native.so"
    echo "$hash" >"$root/stamp"
  }
  in_work_folder unpack_wgpu || fail "wgpu-native could not be set up in $root"
}

# The network of the demo, from the npm package @upscalerjs/esrgan-slim (MIT).
setup_model() {
  local root=$cache/esrgan-slim-1.0.0 hash=b53070ff01363e74d33138106dcc72b58d341c9fb7e8fd648554a4e7744142b5
  [ "$(cat "$root/stamp" 2>/dev/null)" = "$hash" ] && return 0
  say "model: downloading the npm package @upscalerjs/esrgan-slim 1.0.0 (4 MB)"
  unpack_model() {
    (cd "$work" && npm pack --silent @upscalerjs/esrgan-slim@1.0.0 >/dev/null </dev/null) || return 1
    printf '%s  %s\n' "$hash" "$work/upscalerjs-esrgan-slim-1.0.0.tgz" | sha256sum --check --quiet || return 1
    mkdir -p "$root"
    tar -xzf "$work/upscalerjs-esrgan-slim-1.0.0.tgz" -C "$root" package/models package/package.json package/LICENSE || return 1
    echo "$hash" >"$root/stamp"
  }
  in_work_folder unpack_model || fail "the model could not be set up in $root"
}

# The photos of the demo, from the scikit-image wheel (the same file on every machine: only its pictures are used).
setup_photos() {
  local root=$cache/photos hash=c5c378db54e61b491b9edeefff87e49fcf7fdf729bb93c777d7a5f15d36f743e name
  [ "$(cat "$root/stamp" 2>/dev/null)" = "$hash" ] && return 0
  say "photos: downloading the wheel scikit-image 0.22.0 (15 MB)"
  unpack_photos() {
    local wheel
    wheel=$(fetch_wheel scikit-image==0.22.0 manylinux_2_17_x86_64 "$hash") || return 1
    mkdir -p "$root"
    for name in astronaut chelsea coffee; do
      python3 - "$wheel" "skimage/data/$name.png" >"$root/$name.png" <<'PY' || return 1
import sys, zipfile
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))
PY
    done
    echo "$hash" >"$root/stamp"
  }
  in_work_folder unpack_photos || fail "the photos could not be set up in $root"
}
