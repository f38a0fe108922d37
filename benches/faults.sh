#!/usr/bin/env bash
# Every fault at every point, and the rows of the tables in docs/operations.md: some hours on two cores.
#
#     benches/faults.sh [FILE]
#
# FILE (faults.txt) gets everything that the tests print; the rows go to standard output. TMPDIR says on which file system the
# saves lie; on a tmpfs it is many times faster. Wants strace, and for lost power and mounts root, loop devices, xfsprogs and
# btrfs-progs: what cannot be done says that it is skipped. Ends with the status of the first test that fails.
set -uo pipefail
cd "$(dirname "$0")/.."

out=${1:-faults.txt}
: > "$out"
export WORLDKEEP_FAULTS=all CARGO_TERM_COLOR=never
status=0

run() { # TEST [NAME...]
  printf '\n== %s, %s\n' "$*" "$(date -u +%H:%M:%S)" >> "$out"
  cargo test --locked --test "$1" -- --nocapture --test-threads=1 "${@:2}" >> "$out" 2>&1 || { status=${status/#0/$?}; echo "failed: $*"; }
}

run ops_copy
run ops_draft
run ops_run
run ops_kill kill:: control:: quiet::
run ops_kill power::
run ops_faults
run ops_kill errors::

# The first row of a test stands behind its name.
grep -oE '\| .* \|$|[0-9]+ sequences,.*|.*skipped.*' "$out"
exit "$status"
