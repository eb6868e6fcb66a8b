#!/usr/bin/env bash
# What of the tests' engines is here: one line per tool with its version or
# `missing`, then the base images of each engine. Changes nothing, never fails.
set -uo pipefail
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# version NAME COMMAND...: the first version-like word the command prints. An
# engine that hangs must not take the caller with it.
version() {
  local name="$1" found
  shift
  found="$(timeout 10 "$@" 2>/dev/null </dev/null | grep -oE '[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*' | head -n 1)"
  printf '%s %s\n' "$name" "${found:-missing}"
}

images() { # ENGINE
  local found
  found="$(timeout 10 "$1" images --format '{{.Repository}}:{{.Tag}}' 2>/dev/null </dev/null |
    sed -n 's#^\(localhost/\|docker\.io/\)\{0,1\}\(keelson-test/.*\)#\2#p' | LC_ALL=C sort -u | tr '\n' ' ')"
  printf 'images: %s %s\n' "$1" "${found:-none}" | sed 's/ *$//'
}

version docker docker version --format '{{.Client.Version}}'
version dockerd docker version --format '{{.Server.Version}}'
version podman podman version --format '{{.Client.Version}}'
version runc runc --version
version bwrap bwrap --version
version busybox busybox
version debootstrap debootstrap --version
version docker-registry docker-registry --version
version redis-server redis-server --version
version prometheus prometheus --version
version git git --version
version go env -C / GOTOOLCHAIN=local go version
images docker
images podman
