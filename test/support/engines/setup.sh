#!/usr/bin/env bash
# Makes the real engines of the tests usable on this machine: Docker, Podman,
# bubblewrap, an OCI registry, Redis, Prometheus, Chromium and OpenSSH from Debian's packages, a
# running dockerd, and the base images (images.sh). Nothing is pulled from an image
# registry, so it works where only the package mirrors can be reached.
#
#   bash test/support/engines/setup.sh
#
# It can be run again at any time: what is there already is left alone, and two
# runs at once wait for each other. State (cached root file systems, logs, the
# pid file) lives in ${KEELSON_TEST_STATE:-/var/tmp/keelson-test}.
#
# Exit codes: 0 all is up; 1 a step failed; 3 this machine cannot be set up from
# here (not root, or not Debian): what is missing is printed, and the caller
# goes on without the engines.
set -euo pipefail

# A user's PATH often lacks sbin, where dockerd, debootstrap and iptables live.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
PROJECT="$(cd "$HERE/../../.." && pwd)"
STATE="${KEELSON_TEST_STATE:-/var/tmp/keelson-test}"
CONTAINERS_CONF=/etc/containers/containers.conf
CONF_MARK='# Written by keelson test/support/engines/setup.sh'

# shellcheck source=test/support/engines/images.sh
. "$HERE/images.sh"

say() { printf 'engines: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# Runs a noisy command with its output in a log; only a failure shows any of it.
logged() {
  local log="$STATE/log/$1.log"
  shift
  if ! "$@" </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "failed: $* (all of it: $log)"
  fi
}

have() { command -v "$1" >/dev/null 2>&1; }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# --- packages ---------------------------------------------------------------

# A command that came from elsewhere (another Docker packaging brings its own
# dockerd and runc) must not be replaced by Debian's; the rest go by package.
missing_packages() {
  have dockerd || echo docker.io
  have podman || echo podman
  have runc || echo runc
  have bwrap || echo bubblewrap
  have docker-registry || echo docker-registry
  have redis-server || echo redis-server
  have prometheus || echo prometheus
  have zsh || echo zsh
  have fish || echo fish
  have tmux || echo tmux
  have chromium || echo chromium
  have dbus-daemon || echo dbus
  have gnome-keyring-daemon || echo gnome-keyring
  have ssh || echo openssh-client
  have sshd || echo openssh-server
  local package
  # tini is what `--init` puts into a container, here on either engine.
  # uidmap and slirp4netns are what podman without root needs.
  for package in uidmap slirp4netns fonts-dejavu-core python3-venv netavark aardvark-dns tini busybox-static debootstrap debian-archive-keyring ca-certificates; do
    installed "$package" || echo "$package"
  done
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  if [ "${#missing[@]}" -eq 0 ]; then
    say 'packages: all there'
    return
  fi
  install_debian "${missing[@]}"
}

ensure_package() { installed "$1" || install_debian "$1"; }

install_debian() {
  local policy=''
  say "packages: installing $*"
  # The packages would start their services: Redis and the registry would take
  # the ports the tests want, and without an init system a start can hang.
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    policy=/usr/sbin/policy-rc.d
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    on_exit "rm -f $policy"
  fi
  # Someone else's apt may hold the lock: wait rather than fail.
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  logged apt-update "${apt[@]}" update
  logged apt-install "${apt[@]}" install -y --no-install-recommends "$@"
  [ -z "$policy" ] || rm -f "$policy"
}

# Podman's defaults ask for resource limits that a container or small VM may not
# be allowed to set, and crun refuses a hybrid cgroup mount; runc takes both.
# The helper of `--init` is catatonit by default, which Debian only recommends;
# tini serves, but has to be static: it runs in any image. Where somebody else
# wrote the settings and named no helper, catatonit is installed.
write_containers_conf() {
  if [ -e "$CONTAINERS_CONF" ] && ! grep -qF "$CONF_MARK" "$CONTAINERS_CONF"; then
    say "podman: $CONTAINERS_CONF is not ours, left as it is"
    grep -q '^ *init_path' "$CONTAINERS_CONF" || ensure_package catatonit
    return
  fi
  mkdir -p "$(dirname "$CONTAINERS_CONF")"
  cat >"$CONTAINERS_CONF.new" <<CONF
$CONF_MARK; remove this line to keep your own version.
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
init_path = "/usr/bin/tini-static"

[engine]
runtime = "runc"
CONF
  mv "$CONTAINERS_CONF.new" "$CONTAINERS_CONF"
}

# --- dockerd ----------------------------------------------------------------

server_version() { timeout 10 "${1:-docker}" version --format '{{.Server.Version}}' 2>/dev/null; }

# runs_as PIDFILE NAME: whether the pid in the file is a live process of that
# name. After a kill -9 the number stays behind, and may be someone else's now,
# or that of a corpse its parent has not yet collected.
runs_as() {
  local pid state
  pid="$(cat "$1" 2>/dev/null)" || return 1
  [[ "$pid" =~ ^[0-9]+$ ]] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] || return 1
  state="$(awk '$1 == "State:" { print $2 }' "/proc/$pid/status" 2>/dev/null)" || return 1
  [[ "$state" = [!ZX] ]]
}

dockerd_runs() { runs_as /var/run/docker.pid dockerd || runs_as "$STATE/dockerd.pid" dockerd; }

# dockerd refuses to start while the file names any live process, and waits for
# a containerd that is none.
clear_stale_pid_files() {
  local run
  for run in /var/run /run; do
    [ ! -e "$run/docker.pid" ] || runs_as "$run/docker.pid" dockerd || rm -f "$run/docker.pid"
    [ ! -e "$run/docker/containerd/containerd.pid" ] ||
      runs_as "$run/docker/containerd/containerd.pid" containerd ||
      rm -f "$run/docker/containerd/containerd.pid"
  done
}

start_dockerd() {
  if [ -d /run/systemd/system ] && systemctl cat docker.service >/dev/null 2>&1; then
    systemctl start --no-block docker.service
    return
  fi
  clear_stale_pid_files
  [ ! -e "$STATE/log/dockerd.log" ] || mv "$STATE/log/dockerd.log" "$STATE/log/dockerd.log.old"
  # A session of its own, no terminal, and not the lock (9): it outlives us.
  cd /
  setsid nohup dockerd </dev/null >"$STATE/log/dockerd.log" 2>&1 9>&- &
  echo $! >"$STATE/dockerd.pid"
  cd "$PROJECT"
}

ensure_dockerd() {
  local version waited=0
  if version="$(server_version)"; then
    say "docker: $version answers"
    return
  fi
  until version="$(server_version)"; do
    # One that runs is still coming up, started by us or by someone else. Asking
    # again every few seconds covers one that was just about to die.
    if [ $((waited % 5)) -eq 0 ] && ! dockerd_runs; then
      say 'docker: starting dockerd'
      start_dockerd
    fi
    waited=$((waited + 1))
    if [ "$waited" -ge 60 ]; then
      # A client that is much newer than the daemon refuses to talk to it.
      if [ -x /usr/bin/docker ] && server_version /usr/bin/docker >/dev/null; then
        die "docker: $(command -v docker) cannot talk to the daemon, /usr/bin/docker can: put /usr/bin first in PATH"
      fi
      tail -n 20 "$STATE/log/dockerd.log" >&2 2>/dev/null || true
      die 'docker: dockerd does not answer after 60 s'
    fi
    sleep 1
  done
  say "docker: $version is up"
}

# Both engines start servers with an init helper. Where it is missing, every
# test that starts a container fails with the engine's words; say it once here.
check_init_helper() { # ENGINE
  local said
  if ! said="$("$1" run --rm --init --network=none keelson-test/busybox:1 true 2>&1)"; then
    say "$1: a container with an init helper does not start: $said"
    die "$1: install its helper (catatonit or tini) or name it (init_path in $CONTAINERS_CONF, init-path of dockerd)"
  fi
}

# --- the Python packages -----------------------------------------------------

# Both lines of the official Python SDK of MCP, for tests with real clients, and
# a check of manifests that has the published schemas of Kubernetes. They come
# from the Python index that pip is set up for.
PYTHON_PACKAGES='python-sdk-1:mcp==1.30.0 python-sdk-2:mcp==2.3.0 kubernetes-validate:kubernetes-validate==1.37.0'

ensure_python_packages() {
  local package venv requirement
  for package in $PYTHON_PACKAGES; do
    venv="$STATE/${package%%:*}" requirement="${package#*:}"
    [ "$(cat "$venv/installed" 2>/dev/null)" != "$requirement" ] || continue
    say "python: installing $requirement"
    rm -rf "$venv"
    logged python-venv /usr/bin/python3 -m venv "$venv"
    logged python-package "$venv/bin/pip" install --disable-pip-version-check "$requirement"
    echo "$requirement" >"$venv/installed"
  done
}

# --- the Go SDK ---------------------------------------------------------------

# The clients and servers of the matrix of eras that are made with the official
# Go SDK of MCP, as one program. Compiling it takes half a minute, once. Without
# Go or its modules the setup goes on, and the tests say what is missing.
ensure_go_sdk() {
  local source="$PROJECT/fixtures/eras/go" built="$STATE/go-sdk" content
  if ! have go; then
    say 'go: no Go on this machine, the clients and servers of its SDK are left out'
    return
  fi
  content="$(cat "$source"/* | sha256sum | cut -d' ' -f1)-$(cd / && GOTOOLCHAIN=local go env GOVERSION)"
  [ "$(cat "$built/installed" 2>/dev/null)" != "$content" ] || return 0
  say 'go: building the clients and servers of the Go SDK'
  mkdir -p "$built"
  if ! GOTOOLCHAIN=local CGO_ENABLED=0 GOCACHE="$built/cache" \
    go build -C "$source" -trimpath -buildvcs=false -o "$built/eras" . </dev/null >"$STATE/log/go-sdk.log" 2>&1; then
    tail -n 5 "$STATE/log/go-sdk.log" >&2
    say 'go: they could not be built'
    return
  fi
  echo "$content" >"$built/installed"
}

# --- the run ----------------------------------------------------------------

# What has to be undone however the script ends; a signal counts as an end.
EXIT_STEPS=()
on_exit() { EXIT_STEPS+=("$1"); }
run_exit_steps() {
  local step
  for step in "${EXIT_STEPS[@]}"; do eval "$step" || true; done
}
trap run_exit_steps EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

is_debian() { [ -r /etc/os-release ] && (. /etc/os-release && [ "${ID:-}" = debian ]); }

# Prints what is missing and how to get it; without root or Debian that is all
# that can be done. Nothing missing means nothing to do.
explain_and_leave() {
  local missing=() tool images
  for tool in docker dockerd podman runc bwrap debootstrap docker-registry redis-server; do
    have "$tool" || missing+=("$tool")
  done
  if [ "${#missing[@]}" -eq 0 ] && server_version >/dev/null; then
    images="$(missing_images)"
    if [ -z "$images" ]; then
      say 'all there'
      exit 0
    fi
    missing+=("images $images")
  fi
  say "$1; nothing was changed"
  say "missing: ${missing[*]:-a docker engine that answers this user}"
  if is_debian; then
    say "to set all of it up: sudo bash $HERE/setup.sh"
  else
    say 'install Docker Engine and Podman with your own package manager and start dockerd;'
    say 'the base images are built on Debian only (debootstrap), as root'
  fi
  exit 3
}

# --- podman without root -----------------------------------------------------

ROOTLESS=keelson-rootless

# A user for tests of rootless podman, with the image that they need: the script
# rootless/podman beside this one runs podman as that user.
ensure_rootless() {
  local home id
  if ! id "$ROOTLESS" >/dev/null 2>&1; then
    say "rootless: making the user $ROOTLESS"
    useradd --create-home --shell /bin/bash "$ROOTLESS" # and its ranges in /etc/subuid and /etc/subgid
  fi
  home="$(getent passwd "$ROOTLESS" | cut -d: -f6)"
  install -d -o "$ROOTLESS" -m 700 "/run/user/$(id -u "$ROOTLESS")"
  # What udev gives it; where there is none it is root's alone, and slirp4netns finds no way out.
  [ ! -c /dev/net/tun ] || chmod 666 /dev/net/tun
  if [ ! -e "$home/.config/containers/storage.conf" ]; then
    install -d -o "$ROOTLESS" "$home/.config" "$home/.config/containers"
    printf '[storage]\ndriver = "overlay"\n' >"$home/.config/containers/storage.conf"
  fi
  id="$(docker image inspect --format '{{.Id}}' keelson-test/node:24)"
  if [ "$("$HERE/rootless/podman" image inspect --format 'sha256:{{.Id}}' keelson-test/node:24 2>/dev/null)" != "$id" ]; then
    say 'rootless: copying keelson-test/node:24 into podman'
    docker save keelson-test/node:24 | "$HERE/rootless/podman" load -q >/dev/null
  fi
}

main() {
  [ "$(uname -s)" = Linux ] || explain_and_leave 'this is not Linux'
  is_debian || explain_and_leave 'this is not Debian'
  [ "$(id -u)" -eq 0 ] || explain_and_leave 'root is needed'

  mkdir -p "$STATE/log" "$STATE/rootfs"
  exec 9>"$STATE/setup.lock"
  if ! flock -n 9; then
    say 'another run is at work, waiting for it'
    flock -w 1800 9 || die 'the other run did not end in 30 minutes'
  fi

  install_packages
  write_containers_conf
  ensure_dockerd
  build_images
  check_init_helper docker
  check_init_helper podman
  ensure_rootless
  ensure_python_packages
  ensure_go_sdk
  say 'ready'
}

main "$@"
