# Sourced: downloads one archive of a Python package, without installing or building anything.
# pip finds the index, the proxy and the certificates in the user's own settings.

# A python3 that has pip, in PIP_PYTHON: the machine's own, else a throw-away environment in FOLDER.
find_pip() {  # find_pip FOLDER
  PIP_PYTHON=python3
  if python3 -m pip --version >/dev/null 2>&1; then return; fi
  "$here/install_packages.sh" python
  python3 -m venv "$1/venv" >&2
  PIP_PYTHON=$1/venv/bin/python
}

# A source package names the build backend that pip must ask for its metadata. This one answers in
# the real one's place, so nothing is built, and none of the package's own code runs.
stand_in_backend() {  # stand_in_backend FOLDER PACKAGE VERSION
  local name=${2//-/_}
  mkdir -p "$1/scikit_build_core"
  touch "$1/scikit_build_core/__init__.py"
  cat >"$1/scikit_build_core/build.py" <<PYTHON
import pathlib

def get_requires_for_build_wheel(config_settings=None):
    return []

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = pathlib.Path(folder, "$name-$3.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: $name\nVersion: $3\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    return info.name

def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise RuntimeError("this backend only names the package")
PYTHON
}

# Leaves the archive in FOLDER. pip refuses any file whose sha256 is another.
pip_fetch() {  # pip_fetch FOLDER PACKAGE VERSION SHA256 [source]
  local folder=$1 package=$2 version=$3 sha256=$4 form=${5:-wheel}
  local options=(--no-deps --no-cache-dir --disable-pip-version-check --no-input --require-hashes)
  find_pip "$folder"
  if [ "$form" = source ]; then
    stand_in_backend "$folder/backend" "$package" "$version"
    options+=(--no-build-isolation --no-binary "$package")
  else
    options+=(--only-binary "$package")
  fi
  if [ ! -t 2 ]; then options+=(--quiet --progress-bar off); fi
  printf '%s==%s --hash=sha256:%s\n' "$package" "$version" "$sha256" >"$folder/wanted.txt"
  PYTHONPATH=$folder/backend "$PIP_PYTHON" -m pip download "${options[@]}" \
    --dest "$folder" --requirement "$folder/wanted.txt" >&2
}
