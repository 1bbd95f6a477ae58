#!/usr/bin/env bash
# Breaks the rules of the house on purpose, one patch at a time, and requires a test to notice.
#
#   tests/mutants/run.sh [NAME ...]        all of tests/mutants/*.patch, or the named ones
#
# A patch is a unified diff against the top of the tree, after three header lines:
#
#   Rule: 1
#   Breaks: the gate is applied after the output projection instead of before it
#   Test: attention:.*masked equals removed      (a regex for ctest -R)
#
# A copy of the tracked files is built under build/mutants and its named tests must be green. Then
# each patch is applied, what its tests need is built, and at least one of them must fail. A patch
# that does not apply or does not compile is an error, not a kill. Exit code 1 when a mutant
# survives or is in error.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$top/build/mutants
src=$work/src
build=$work/build
jobs=${JOBS:-$(nproc)}
# The copy lies inside the repository; git apply must not take it for a part of it.
export GIT_CEILING_DIRECTORIES=$work

header() { sed -n "/^diff \|^--- /q; s/^$1: *//p" "$2" | head -n 1; }

# Copies only what differs, so that a second run builds only what changed, the remains of an
# interrupted mutant included.
copy_tree() {
  mkdir -p "$src"
  (cd "$top" && git ls-files) > "$work/tracked"
  while IFS= read -r file; do
    [ -e "$top/$file" ] || continue
    cmp -s "$top/$file" "$src/$file" && continue
    mkdir -p "$src/$(dirname "$file")"
    cp "$top/$file" "$src/$file"
  done < "$work/tracked"
  (cd "$src" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) > "$work/present"
  LC_ALL=C sort "$work/tracked" | LC_ALL=C comm -13 - "$work/present" | while IFS= read -r file; do
    rm "$src/$file"
  done
}

# The build targets that the tests matching $1 run: every file of the build tree in their commands.
targets_of() {
  ctest --test-dir "$build" -R "$1" --show-only=json-v1 | python3 -c '
import json, os, sys
build = os.path.realpath(sys.argv[1])
words = {w for t in json.load(sys.stdin)["tests"] for w in t.get("command", [])}
paths = {os.path.realpath(w) for w in words if os.path.isfile(w)}
print(*sorted(os.path.relpath(p, build) for p in paths if p.startswith(build + os.sep)))' "$build"
}

run_tests() { ctest --test-dir "$build" -R "$1" --no-tests=error --timeout 240 -j "$jobs"; }

mutants=()
if [ $# -gt 0 ]; then
  for name in "$@"; do mutants+=("$top/tests/mutants/$(basename "$name" .patch).patch"); done
else
  for file in "$top"/tests/mutants/*.patch; do [ -e "$file" ] && mutants+=("$file"); done
fi
[ ${#mutants[@]} -gt 0 ] || { echo "mutants: there are none in tests/mutants" >&2; exit 66; }

all_tests=
for file in "${mutants[@]}"; do
  [ -e "$file" ] || { echo "mutants: no such file: $file" >&2; exit 66; }
  for field in Rule Breaks Test; do
    [ -n "$(header $field "$file")" ] || { echo "mutants: $file has no line '$field: ...'" >&2; exit 65; }
  done
  all_tests+="${all_tests:+|}$(header Test "$file")"
done

echo "mutants: building the intact tree" >&2
copy_tree
cmake -S "$src" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING > "$work/log" 2>&1 &&
  cmake --build "$build" -j "$jobs" >> "$work/log" 2>&1 || { cat "$work/log" >&2; exit 70; }
run_tests "$all_tests" > "$work/log" 2>&1 || {
  cat "$work/log" >&2
  echo "mutants: the tests must be green before anything is broken" >&2
  exit 70
}

verdict() {  # sets $result
  local file=$1 test=$2 targets
  result="ERROR: names no test"
  [[ $(ctest --test-dir "$build" -R "$test" -N) != *"Total Tests: 0"* ]] || return 0
  targets=$(targets_of "$test")
  result="ERROR: does not apply"
  (cd "$src" && git apply "$file") > "$work/log" 2>&1 || return 0
  result="ERROR: does not build"
  # shellcheck disable=SC2086  # several targets, or none for the test of a script
  if [ -z "$targets" ] || cmake --build "$build" -j "$jobs" --target $targets > "$work/log" 2>&1; then
    result=SURVIVED
    run_tests "$test" > "$work/log" 2>&1 || result=killed
    ! grep -q 'Not Run' "$work/log" || result="ERROR: a test could not run"
  fi
  (cd "$src" && git apply -R "$file")
}

rows=() failures=0
for file in "${mutants[@]}"; do
  name=$(basename "$file" .patch)
  begin=$SECONDS
  verdict "$file" "$(header Test "$file")"
  if [ "$result" != killed ]; then
    failures=$((failures + 1))
    sed "s/^/    /" "$work/log" >&2
  fi
  echo "mutants: $name: $result" >&2
  rows+=("$(printf '%-32s %-4s %5ds  %-24s %s' "$name" "$(header Rule "$file")" \
    $((SECONDS - begin)) "$result" "$(header Breaks "$file")")")
done

printf '\n%-32s %-4s %6s  %-24s %s\n' mutant rule time result breaks
printf '%s\n' "${rows[@]}"
printf '\n%d mutants, %d killed, %d not\n' ${#mutants[@]} $((${#mutants[@]} - failures)) $failures
[ $failures = 0 ]
