#!/bin/sh
# A chore of the Makefile on a machine that may lack make: sh scripts/make.sh demo
# Debian's package is installed when this user may do so (root, or sudo without a password).
set -eu
cd "$(dirname "$0")/.."
if ! command -v make >/dev/null 2>&1; then
    as_root=""
    [ "$(id -u)" -eq 0 ] || as_root="sudo -n"
    echo "installing Debian's make …"
    if ! { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends make; } >/dev/null 2>&1; then
        echo "error: make is missing; as root: apt-get install make, then the same command again" >&2
        exit 2
    fi
fi
exec make "$@"
