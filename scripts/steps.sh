# Sourced by scripts/test and scripts/night: named steps, one after another, and a summary of them at the end.

if [[ -z "${ETL2PARQUET_CORPUS:-}" && -d ../shared/corpus ]]; then
  ETL2PARQUET_CORPUS=$(cd ../shared/corpus && pwd)
fi
export ETL2PARQUET_CORPUS=${ETL2PARQUET_CORPUS:-}
export ETL2PARQUET_BIN="${CARGO_TARGET_DIR:-$PWD/target}/release/etl2parquet"

# The folder in which this run keeps what scripts/test_summary.py reads.
run_folder=

# Begins the step that is called $*.
step() {
  printf '%s\t%s\n' "$SECONDS" "$*" >>"$run_folder/steps"
  printf '\n== %s\n' "$*"
}

# Runs the function $1, whose steps end at the first failure, and prints the summary. Exits with its status.
run_steps() {
  need_cargo
  run_folder=$(mktemp -d)
  trap 'rm -rf "$run_folder"' EXIT
  export ETL2PARQUET_SKIPPED=$run_folder/skipped
  : >"$run_folder/steps"
  SECONDS=0
  set +e
  (
    set -e
    "$1"
  ) 2>&1 | tee "$run_folder/log"
  local status=${PIPESTATUS[0]}
  set -e
  printf '%s\tend\n' "$SECONDS" >>"$run_folder/steps"
  python3 scripts/test_summary.py "$run_folder" "$status"
}

# Ends with a plain word where cargo is older than Cargo.toml asks.
need_cargo() {
  local oldest found
  oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml | head -1)
  found=$(cargo --version | cut -d' ' -f2)
  if [[ $(printf '%s\n' "$oldest" "$found" | sort -V | head -1) != "$oldest" ]]; then
    echo "cargo $found is too old: etl2parquet needs Rust $oldest or newer" >&2
    exit 1
  fi
}

# Sets ETL2PARQUET_PYTHON. The environment in .venv is made anew only when the pinned list changes; the copy of the list comes
# last, so that an interrupted set-up is repeated.
find_python() {
  if [[ -z ${ETL2PARQUET_PYTHON:-} ]]; then
    if ! cmp --quiet scripts/requirements.txt .venv/requirements.txt; then
      python3 -m venv --clear .venv
      .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
      cp scripts/requirements.txt .venv/requirements.txt
    fi
    ETL2PARQUET_PYTHON=$PWD/.venv/bin/python
  fi
  export ETL2PARQUET_PYTHON
}
