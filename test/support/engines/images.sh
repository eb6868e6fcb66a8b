# shellcheck shell=bash
# The base images of the tests, sourced by setup.sh (which gives say, die,
# logged, have, on_exit, STATE and PROJECT). Each is made from Debian's packages
# and this machine's own tools, because no image can be pulled:
#
#   keelson-test/node:24     Node from the project's `node` package, npm, git
#   keelson-test/busybox:1   a static busybox, where no Node is needed (Debian's
#                            crashes on `wget -T`: use `timeout 3 wget`)
#   keelson-test/python:3    python3 with venv and pip, git
#   keelson-test/golang:1    this machine's Go, git (only where Go is there)
#
# An image carries a label that tells what it was made from; the same label
# means nothing to do. The Debian root file systems are cached as tar files.

# Raise it when the way an image is made changes.
RECIPE=1
LABEL=keelson.test.content
IMAGE_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

image_names() {
  printf 'keelson-test/%s\n' node:24 busybox:1 python:3
  if have go; then echo keelson-test/golang:1; fi
}

missing_images() {
  local image missing=()
  for image in $(image_names); do
    docker image inspect "$image" >/dev/null 2>&1 || missing+=("$image")
  done
  echo "${missing[*]-}"
}

content_of() { # ENGINE IMAGE
  "$1" image inspect --format "{{index .Config.Labels \"$LABEL\"}}" "$2" 2>/dev/null || true
}

# --- working folders --------------------------------------------------------

# debootstrap mounts /proc in its target; a killed run leaves that mount behind,
# and deleting the folder must not walk into it.
remove_tree() {
  local tree="$1" mount
  while read -r mount; do
    umount -l "$mount" 2>/dev/null || true
  done < <(awk -v p="$tree/" 'index($2, p) == 1 { print $2 }' /proc/mounts | sort -r)
  rm -rf --one-file-system "$tree"
}

clear_old_work() {
  local old
  for old in "$STATE"/work.*; do
    [ ! -d "$old" ] || remove_tree "$old"
  done
}

# Sets WORK to a fresh folder, removed when the script ends.
new_work() {
  WORK="$(mktemp -d "$STATE/work.XXXXXX")"
  chmod 755 "$WORK"
  on_exit "remove_tree $WORK"
}

# --- Debian root file systems -----------------------------------------------

codename() { (. /etc/os-release && echo "$VERSION_CODENAME"); }

# The mirror this machine itself installs from. apt reads both styles of its
# source lists for us.
mirror() {
  local found
  found="$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' |
    awk -v suite="$(codename)" '$1 == suite && $2 == "main" { print $3; exit }')"
  [ -n "$found" ] || die "no source of $(codename) main in apt's source lists"
  echo "$found"
}

# The same way out as apt's own, when only apt was told of a proxy.
use_apt_proxy() {
  local proxy=''
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  if [ -n "$proxy" ] && [ "$proxy" != DIRECT ]; then export http_proxy="${http_proxy:-$proxy}"; fi
}

# debian_tar NAME PACKAGES: sets DEBIAN_TAR to the cached tar of a minimal
# Debian with these packages, made on first use.
debian_tar() {
  local name="$1" packages="$2" source
  DEBIAN_TAR="$STATE/rootfs/$name-$(codename)-$RECIPE.tar"
  [ ! -s "$DEBIAN_TAR" ] || return 0
  say "images: making the Debian root file system '$name' (about a minute)"
  source="$(mirror)"
  use_apt_proxy
  new_work
  mkdir -p "$STATE/rootfs/debs"
  logged "debootstrap-$name" debootstrap --variant=minbase --cache-dir="$STATE/rootfs/debs" \
    --include="$packages" "$(codename)" "$WORK/root" "$source"
  # Device nodes and mounts are the engine's business; the rest saves space.
  logged "tar-$name" tar -C "$WORK/root" --numeric-owner --one-file-system -cf "$DEBIAN_TAR.new" \
    --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' \
    --exclude='./var/cache/apt/*.bin' --exclude='./var/cache/apt/archives/*.deb' \
    --exclude='./var/lib/apt/lists/*' --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
    --exclude='./usr/share/locale/*' .
  mv "$DEBIAN_TAR.new" "$DEBIAN_TAR"
  remove_tree "$WORK"
}

# --- images -----------------------------------------------------------------

# import_image IMAGE CONTENT ROOT [CHANGE...]
import_image() {
  local image="$1" content="$2" root="$3" changes=()
  shift 3
  local change
  for change in "LABEL $LABEL=$content" "$@"; do changes+=(--change "$change"); done
  tar -C "$root" --numeric-owner -c . | docker import "${changes[@]}" - "$image" >/dev/null
}

# image IMAGE CONTENT FILL [CHANGE...]: FILL is a function that fills the folder
# it is given with the image's root file system.
image() {
  local name="$1" content="$2" fill="$3"
  shift 3
  if [ "$(content_of docker "$name")" = "$content" ]; then
    say "images: $name is there"
  else
    say "images: making $name"
    rm -rf "$STATE"/layers-* # of images before this one, kept by test/plugins/upgrade/base-layers.ts
    # Kept under another name: FILL may make a Debian tar, which has its own WORK.
    new_work
    local work="$WORK"
    mkdir "$work/root"
    "$fill" "$work/root"
    import_image "$name" "$content" "$work/root" "$@"
    remove_tree "$work"
  fi
  # To Docker the short name and the one with docker.io are the same image; in
  # Podman they are two, and the load makes only the short one (localhost/...).
  if [ "$(content_of podman "localhost/$name")" != "$content" ]; then
    say "images: copying $name into podman"
    docker save "$name" | podman load -q >/dev/null
  fi
  if [ "$(content_of podman "docker.io/$name")" != "$content" ]; then
    podman tag "localhost/$name" "docker.io/$name"
  fi
}

# The project's own copy first; npm fetches one where it is not installed yet.
find_node() {
  NODE_BIN="$PROJECT/node_modules/node/bin/node"
  if [ "$("$NODE_BIN" --version 2>/dev/null | cut -d. -f1)" = v24 ]; then return; fi
  NODE_BIN="$STATE/node/node_modules/node/bin/node"
  if [ "$("$NODE_BIN" --version 2>/dev/null | cut -d. -f1)" = v24 ]; then return; fi
  say "images: fetching node@24 (the project's own is not installed)"
  mkdir -p "$STATE/node"
  # The binary is put in place by the package's install script.
  logged npm-node npm install --prefix "$STATE/node" --no-save --no-audit --no-fund --ignore-scripts=false node@24
  "$NODE_BIN" --version >/dev/null 2>&1 || die "node@24 brought no working binary (see $STATE/log/npm-node.log)"
}

# Some distributions split npm over many folders; then npm fetches a whole one.
find_npm() {
  NPM_DIR="$(npm root -g 2>/dev/null)/npm"
  if [ -f "$NPM_DIR/bin/npm-cli.js" ] && [ -d "$NPM_DIR/node_modules" ]; then return; fi
  NPM_DIR="$STATE/npm/node_modules/npm"
  if [ -f "$NPM_DIR/bin/npm-cli.js" ]; then return; fi
  say 'images: fetching npm'
  mkdir -p "$STATE/npm"
  logged npm-npm npm install --prefix "$STATE/npm" --no-save --no-audit --no-fund npm@11
}

npm_version() { sed -n 's/^  "version": "\(.*\)",$/\1/p' "$NPM_DIR/package.json"; }

fill_node() {
  local lib="$1/usr/local/lib/node_modules"
  debian_tar base ca-certificates,git
  tar -C "$1" --numeric-owner -xpf "$DEBIAN_TAR"
  install -m 755 "$NODE_BIN" "$1/usr/local/bin/node"
  mkdir -p "$lib"
  cp -rL --no-preserve=ownership "$NPM_DIR" "$lib/npm"
  # The host's own settings for npm are not the image's.
  rm -f "$lib/npm/npmrc"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$1/usr/local/bin/npx"
  chmod 755 "$lib"/npm/bin/np[mx]-cli.js
  # The usual Node images have this user; what is built on them may expect it.
  echo 'node:x:1000:' >>"$1/etc/group"
  echo 'node:x:1000:1000::/home/node:/bin/bash' >>"$1/etc/passwd"
  install -d -o 1000 -g 1000 -m 755 "$1/home/node"
}

fill_busybox() {
  install -d "$1"/{bin,dev,etc,proc,root,sys,usr/bin,var}
  install -d -m 1777 "$1/tmp" "$1/var/tmp"
  install -m 755 "$BUSYBOX" "$1/bin/busybox"
  local applet
  for applet in $("$BUSYBOX" --list); do
    [ "$applet" = busybox ] || ln -s busybox "$1/bin/$applet"
  done
  # /usr/bin/env is what many a script's first line names.
  ln -s ../../bin/busybox "$1/usr/bin/env"
  echo 'root:x:0:' >"$1/etc/group"
  echo 'nobody:x:65534:' >>"$1/etc/group"
  echo 'root:x:0:0::/root:/bin/sh' >"$1/etc/passwd"
  echo 'nobody:x:65534:65534::/:/bin/false' >>"$1/etc/passwd"
}

fill_python() {
  debian_tar python ca-certificates,git,python3,python3-venv,python3-pip
  tar -C "$1" --numeric-owner -xpf "$DEBIAN_TAR"
  # As in the usual Python images: `python` exists, and pip may install for the
  # whole image (Debian marks its Python as managed by apt alone).
  ln -s /usr/bin/python3 "$1/usr/local/bin/python"
  rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED
}

fill_golang() {
  debian_tar base ca-certificates,git
  tar -C "$1" --numeric-owner -xpf "$DEBIAN_TAR"
  mkdir -p "$1/usr/local/go" "$1/go/bin" "$1/go/src"
  # Go's own tests and build caches are of no use in an image.
  tar -C "$GOROOT_DIR" --exclude=./test --exclude=./pkg/obj --exclude=./.git -c . |
    tar -C "$1/usr/local/go" --no-same-owner -x
  chmod 1777 "$1/go"
  compile_standard_library "$1"
}

# compile_standard_library ROOT: fills Go's build cache in an image with what
# fixtures/go-server imports. Otherwise each build in that image compiles it
# again, for 20 seconds of the processor. The settings are those of the recipe.
compile_standard_library() {
  local env=(HOME=/root "PATH=/usr/local/go/bin:$IMAGE_PATH" GOROOT=/usr/local/go GOPATH=/go GOTOOLCHAIN=local CGO_ENABLED=0)
  touch "$1/dev/null" # Go gives it to its tools; an engine mounts its own
  logged golang-std chroot "$1" env -i "${env[@]}" \
    go build -trimpath bufio bytes encoding/json fmt io os os/exec os/signal syscall time
  rm "$1/dev/null"
}

build_images() {
  clear_old_work

  find_node
  find_npm
  image keelson-test/node:24 "$RECIPE-$(codename)-node-$("$NODE_BIN" --version)-npm-$(npm_version)" fill_node \
    "ENV PATH=$IMAGE_PATH" "ENV NODE_VERSION=$("$NODE_BIN" --version | tr -d v)" 'CMD ["node"]'

  BUSYBOX="$(command -v busybox)"
  image keelson-test/busybox:1 "$RECIPE-busybox-$(dpkg-query -W -f '${Version}' busybox-static | tr -c 'A-Za-z0-9.\n' -)" \
    fill_busybox "ENV PATH=$IMAGE_PATH" 'CMD ["sh"]'

  if have go; then
    # The toolchain that is installed, not one a project's file asks for.
    GOROOT_DIR="$(cd / && GOTOOLCHAIN=local go env GOROOT)"
    image keelson-test/golang:1 "$RECIPE-std-$(codename)-$(cd / && GOTOOLCHAIN=local go env GOVERSION)" fill_golang \
      "ENV PATH=/go/bin:/usr/local/go/bin:$IMAGE_PATH" 'ENV GOPATH=/go' 'ENV GOTOOLCHAIN=local' \
      'WORKDIR /go' 'CMD ["bash"]'
  else
    say 'images: no Go on this machine, keelson-test/golang:1 is left out'
  fi

  image keelson-test/python:3 "$RECIPE-$(codename)-python3" fill_python \
    "ENV PATH=$IMAGE_PATH" 'CMD ["python3"]'
}
