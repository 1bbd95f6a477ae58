#!/usr/bin/env bash
# Runs each fuzz target for SECONDS on a copy of its seeds; what crashes it stays in build/asan-ubsan/fuzz/crashes.
#
#   tests/fuzz/run.sh SECONDS [TARGET...]
#
# SEED is the seed of the mutations, JOBS the number of targets that run at a time. Ends with 1 when an input crashed
# a target, took more than 10 seconds or more than 1 GiB; such inputs belong in tests/fuzz/crashes/TARGET, where the
# ordinary tests run them.
set -euo pipefail
cd "$(dirname "$0")/../.."

programs=build/asan-ubsan/tests/fuzz
logs=build/asan-ubsan/fuzz
crashes=$logs/crashes
seed=${SEED:-20190525}
memory=${TMPDIR:-/tmp}
if [ -w /dev/shm ]; then memory=/dev/shm; fi
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [TARGET...]}
shift
targets=${*:-$(cd tests/fuzz && printf '%s\n' *_fuzz.cpp | sed 's/_fuzz.cpp//')}

# The inputs a target starts from: copies, for libFuzzer adds what it finds.
gather() {
  local corpus=$1 target=$2 source
  for source in tests/fuzz/seeds/$target tests/fuzz/crashes/$target; do
    if [ -d "$source" ]; then cp "$source"/* "$corpus"; fi
  done
  if [ "$target" = spec ]; then cp experiments/*.ini "$corpus"; fi
}

fuzz() (
  target=$1 options=() log=$logs/$1.log
  TMPDIR=$(mktemp -d -p "$memory")
  trap 'rm -rf "$TMPDIR"' EXIT
  export TMPDIR
  corpus=$TMPDIR/corpus
  mkdir "$corpus"
  gather "$corpus" "$target"
  if [ -f "tests/fuzz/$target.dict" ]; then options+=("-dict=tests/fuzz/$target.dict"); fi
  # HDF5 asks for memory that it may not use (what it uses is limited all the same), and forgets some.
  if [ "$target" = trial ]; then options+=(-malloc_limit_mb=1000000 -detect_leaks=0); fi
  mkdir -p "$crashes/$target"
  if "$programs/fuzz_$target" -seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=100000 \
    -print_final_stats=1 -print_funcs=0 -artifact_prefix="$crashes/$target/" "${options[@]}" "$corpus" > "$log" 2>&1; then
    printf 'fuzz: %-10s %s, %s executions\n' "$target" "$(grep -o 'cov: [0-9]* ft: [0-9]*' "$log" | tail -n 1)" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  else
    tail -n 60 "$log" >&2
    printf 'fuzz: %s failed; the whole log is %s. To repeat:\n' "$target" "$log" >&2
    sed -n "s|.*Test unit written to \(.*\)|  $programs/fuzz_$target -rss_limit_mb=1024 -timeout=10 \1|p" "$log" >&2
    exit 1
  fi
)

export -f fuzz gather
export programs logs crashes seed seconds memory
echo "fuzz: $seconds s each, -seed=$seed"
# shellcheck disable=SC2016
printf '%s\n' $targets | xargs -P "${JOBS:-1}" -I{} bash -euo pipefail -c 'fuzz {}'
