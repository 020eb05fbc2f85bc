# Sourced by the scripts: one line of progress for each long step, its noise in a log file.
# Everything here writes to stderr, so that stdout stays what a script was asked for.

say() { printf '%s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# step "what it does" LOG COMMAND...: runs COMMAND with its output appended to LOG.
#   terminal  one line that shows the seconds gone and the log's last line
#   pipe      one line when it starts, one when it has taken over a second
#   errors    the log's last 40 lines, and the command's exit status is returned
step() {
  local what=$1 log=$2 begin=$SECONDS status=0 runner
  shift 2
  "$@" >>"$log" 2>&1 </dev/null &
  runner=$!
  trap 'kill "$runner" 2>/dev/null; exit 130' INT TERM  # a background command ignores Ctrl-C
  if [ -t 2 ]; then
    step_watch "$what" "$log" "$runner"
  else
    say "$what ..."
  fi
  wait "$runner" || status=$?
  trap - INT TERM
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  if [ "$status" -ne 0 ]; then
    say "$what: failed. The end of $log:"
    tail -n 40 "$log" >&2
    return "$status"
  fi
  if [ -t 2 ] || [ $((SECONDS - begin)) -gt 1 ]; then
    say "$what: done in $((SECONDS - begin)) s"
  fi
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
}
