# Adds system packages to an image. `required`: all that follow. `missing`: those of them that the image
# lacks; a base image that cannot install them may do without.
kind=$1
shift

has() {
  case $1 in
    git) command -v git ;;
    ca-certificates) test -s __BUNDLE__ -a ! -e __ALONE__ ;;
    python3-venv) python3 -c 'import venv, ensurepip' ;;
    *) false ;;
  esac >/dev/null 2>&1
}

# By what the image has, not by what it is called.
install() {
  if command -v apk >/dev/null; then
    apk add --no-cache "$@"
  elif command -v apt-get >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" && rm -rf /var/lib/apt/lists/*
  elif command -v microdnf >/dev/null; then
    microdnf install -y "$@"
  elif command -v dnf >/dev/null; then
    dnf install -y "$@"
  else
    echo 'this image has neither apk, apt-get nor dnf' >&2
    false
  fi
}

if [ "$kind" = required ]; then
  install "$@"
  exit
fi
for name; do
  shift
  has "$name" || set -- "$@" "$name"
done
[ $# -eq 0 ] || install "$@" || true
