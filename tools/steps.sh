#!/usr/bin/env bash
# One step of a test lane: tools/steps.sh TREE.ACTION. tools/lanes/CMakeLists.txt lists them; ./hearth test runs them.
# Exit 77: the step's means are not there (not with CI set: then it is a failure).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hearth
tree=${1%%.*}
action=${1#*.}
build=$root/build/$tree
jobs=$(nproc)

# What a user sees while ctest keeps a step's output.
progress() {
  printf '%s: %s\n' "$tree.$action" "$*"
  if [ -n "${HEARTH_PROGRESS:-}" ]; then printf '    %s: %s\n' "$tree.$action" "$*" >>"$HEARTH_PROGRESS" 2>/dev/null || true; fi
}
skip() {
  progress "$*"
  if [ -n "${CI:-}" ]; then exit 1; fi
  exit 77
}

# Files of this project by pattern; scenarios and the programs of bench/peers are copies.
sources() { (cd "$root" && { git ls-files 2>/dev/null || find . -type f -printf '%P\n'; }) | grep -E "$1" | grep -vE '^(build|tests/scenarios/|bench/peers/)' ; }

# Where a command of this tree runs: the forky tree for Dawn, else here. There /src and /build are the folders.
source_dir=$root
build_dir=$build
inside=()
if [ "$tree" = dawn ]; then
  inside=("$root/tools/forky.sh" run --source "$root" --build "$build")
  source_dir=/src
  build_dir=/build
  if [ "$action" != tree ]; then
    { [ "$(id -u)" = 0 ] && "$root/tools/forky.sh" ready; } || skip "no forky tree: 'tools/forky.sh make' as root makes it"
  fi
fi
prefix_dir=$build_dir/prefix

export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
launcher=()
if [ "$tree" = dawn ] || command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

# The flags of a tree are a preset; the sanitizer's are needed again for projects outside of it.
preset=$tree
sanitize=
case $tree in
  release) preset=ci ;;
  asan) sanitize=address,undefined ;;
  tsan) sanitize=thread ;;
esac

export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$root/tools/lsan.supp:print_suppressions=0
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# Compiles with a line of progress at each tenth.
compile() {
  local start=$SECONDS
  NINJA_STATUS='[%f/%t] ' "${inside[@]}" ninja -C "$1" -j "$jobs" "${@:2}" 2>&1 | while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      local tenth=$((BASH_REMATCH[1] * 10 / BASH_REMATCH[2]))
      if [ "$tenth" != "${last:-0}" ]; then
        last=$tenth
        progress "${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} built, $((SECONDS - start)) s"
      fi
    fi
  done
}

# Runs the tests of a folder of a build tree; the counts go to the progress.
run_tests() {
  local log=$build/$action.log runner=()
  # Address randomisation of recent kernels is more than the sanitizers of this compiler can place.
  if [ -n "$sanitize" ] && setarch -R true 2>/dev/null; then runner=(setarch -R); fi
  if ! "${runner[@]}" "${inside[@]}" ctest --test-dir "$1" -V --no-tests=error >"$log" 2>&1; then
    tail -n 400 "$log"
    return 1
  fi
  grep -hE '\[doctest\] test cases|tests passed,|\*\*\*Skipped' "$log" | sed 's/^[0-9]*: //' | while IFS= read -r line; do progress "$line"; done
  if [ -n "${CI:-}" ] && grep -q '\*\*\*Skipped' "$log"; then
    cat "$log"
    return 1
  fi
}

case $tree.$action in
  lint.format)
    formatter=$(command -v clang-format-14 || true)
    [ -n "$formatter" ] || skip "clang-format-14 is missing"
    cd "$root"
    wrong=$(sources '\.(cpp|hpp)$' | xargs "$formatter" --dry-run 2>&1 | sed -n 's/^\([^:]*\):.*Wclang-format.*/\1/p' | sort -u)
    if [ -n "$wrong" ]; then
      printf 'not as clang-format-14 lays it out:\n%s\nto mend: clang-format-14 -i %s\n' "$wrong" "${wrong//$'\n'/ }"
      exit 1
    fi
    ;;
  lint.layers) python3 "$root/tools/check_layers.py" ;;
  lint.sizes) python3 "$root/tools/sizes.py" --check ;;
  lint.headers) python3 "$root/tools/check_headers.py" --webgpu "${HEARTH_WEBGPU_ROOT:-$cache/wgpu-native-0.32}/include" ;;
  lint.docs) python3 "$root/tools/check_docs.py" ;;
  lint.scenarios)
    # The scenarios are copies; where their originals lie beside the project, they are the same.
    [ -d "$root/../shared/scenarios" ] || { echo "no originals at hand"; exit 0; }
    for file in "$root/../shared/scenarios"/*.[ch]pp; do cmp "$file" "$root/tests/scenarios/$(basename "$file")"; done
    ;;
  dawn.tree)
    "$root/tools/forky.sh" ready && exit 0
    [ "$(id -u)" = 0 ] || skip "the Dawn lane needs root: it makes a Debian forky tree (tools/forky.sh make)"
    progress "making the forky tree (about two minutes the first time)"
    "$root/tools/forky.sh" make
    ;;
  *.build)
    mkdir -p "$build"
    "${inside[@]}" cmake --preset "$preset" -S "$source_dir" -B "$build_dir" -DHEARTH_TESTS=ON "${launcher[@]}"
    # The thread sanitizer runs over the unit tests only.
    if [ "$tree" = tsan ]; then compile "$build_dir" unit_tests; else compile "$build_dir"; fi
    ;;
  *.install)
    rm -rf "$build/prefix"
    "${inside[@]}" cmake --install "$build_dir" --prefix "$prefix_dir"
    ;;
  *.subproject)
    # Configures only: it is the same library.
    rm -rf "$build/subproject"
    cmake -S "$root/tests/consume" -B "$build/subproject" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCONSUME_SUBPROJECT=ON
    ;;
  *.consume | *.scenarios)
    rm -rf "${build:?}/$action"
    "${inside[@]}" cmake -S "$source_dir/tests/$action" -B "$build_dir/$action" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_PREFIX_PATH="$prefix_dir" ${sanitize:+"-DHEARTH_SANITIZE=$sanitize"} "${launcher[@]}"
    compile "$build_dir/$action"
    run_tests "$build_dir/$action"
    ;;
  *)
    folder=tests/$action
    [ -d "$root/$folder" ] || folder=$action
    run_tests "$build_dir/$folder"
    ;;
esac
