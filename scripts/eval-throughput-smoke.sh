#!/usr/bin/env bash
# How much faster a suite runs on a batched backend than one request at a time: sets up what the options need, on
# Debian 12, as root or with sudo, and measures. `--help` lists the options. EVALCORE_PROGRAM, where it is set, names
# a command that is built already.
set -euo pipefail
# The exit status 1 says one thing, that the bar was missed, and no failure of the set-up may say it.
trap '[[ $? -eq 0 ]] || exit 2' EXIT
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
measure=(python3 "$EVALCORE_ROOT/scripts/throughput_smoke.py")

need_packages python
for word in "$@"; do
  [[ $word != -h && $word != --help ]] || exec "${measure[@]}" --help
done
needs=$("${measure[@]}" --list-needs "$@")
pushd "$EVALCORE_ROOT" >/dev/null
for need in $needs; do
  "need_$need"
done
popd >/dev/null
exec "${measure[@]}" "$@"
