#!/bin/sh
# Says in one sentence what this machine lacks for setting up .venv, and nothing if all is there.
# Usage, in the project's folder: sh .ci/check-toolchain.sh [PYTHON]
python=${1:-python3}

lacks() {
    echo "turnout cannot be set up: $1" >&2
    exit 1
}

# durable_rules is compiled from source; once that is done, nothing below is needed.
.venv/bin/python -c 'import durable_rules_engine' 2>/dev/null && exit 0

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    lacks "\`$python\` is not Python 3.11 or newer, install one (Debian \`python3\`, Fedora \`python3\`, macOS \`brew install python\`) or name it with \`make PYTHON=...\`"

"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    lacks "\`$python\` cannot make virtual environments, install them (Debian \`python3-venv\`, Fedora \`python3-libs\`, macOS \`brew install python\`)"

compiler=${CC:-$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("CC") or "cc")')}
# Unquoted: the setting may carry options, as in `gcc -pthread`.
echo '#include <stdio.h>' | $compiler -x c -fsyntax-only - >/dev/null 2>&1 ||
    lacks "its rule engine is compiled here and \`$compiler\` does not work, install a C compiler (Debian \`gcc libc6-dev\`, Fedora \`gcc\`, macOS \`xcode-select --install\`)"

"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    lacks "its rule engine is compiled here and \`$python\` has no headers (\`Python.h\`), install them (Debian \`python3-dev\`, Fedora \`python3-devel\`, macOS \`brew install python\`)"
