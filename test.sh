#!/usr/bin/env bash
# Builds everything with asserts and warnings as errors (the dev preset) and passes all tests.
# Installs what is missing and fetches the test fixtures first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tool/install_packages.sh test
tool/fetch_models.sh --tests >/dev/null
cmake --workflow --preset dev
