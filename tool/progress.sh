# Sourced by the scripts: one line of progress for each long step, its noise in a log file.
# Everything here writes to stderr, so that stdout stays what a script was asked for.

say() { printf '%s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# step "what it does" LOG COMMAND...: runs COMMAND with its output appended to LOG.
#   shows    nothing when it takes under half a second; else on a terminal one line with the seconds
#            gone and the log's last line, on a pipe one line at the start and one at the end
#   errors   the log's last 40 lines, and the command's exit status is returned
step() {
  local what=$1 log=$2 begin=$SECONDS status=0 is_long=false runner
  shift 2
  "$@" >>"$log" 2>&1 </dev/null &
  runner=$!
  trap 'kill "$runner" 2>/dev/null; exit 130' INT TERM  # a background command ignores Ctrl-C
  if ! step_ends_soon "$runner"; then
    is_long=true
    if [ -t 2 ]; then step_watch "$what" "$log" "$runner"; else say "$what ..."; fi
  fi
  wait "$runner" || status=$?
  trap - INT TERM
  if [ "$status" -ne 0 ]; then
    say "$what: failed. The end of $log:"
    tail -n 40 "$log" >&2
    return "$status"
  fi
  if $is_long; then say "$what: done in $((SECONDS - begin)) s"; fi
}

step_ends_soon() {
  for _ in {1..25}; do  # half a second
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.02
  done
  return 1
}

step_watch() {
  local what=$1 log=$2 runner=$3 begin=$SECONDS columns last
  columns=$(tput cols 2>/dev/null || echo 80)
  while kill -0 "$runner" 2>/dev/null; do
    last=$(tail -c 400 "$log" | tr '\r' '\n' | tail -n 1 | tr -cd '[:print:]')
    last="$what, $((SECONDS - begin)) s   $last"
    printf '\r\033[K%s' "${last:0:$((columns - 1))}" >&2
    sleep 0.2
  done
  printf '\r\033[K' >&2
}
