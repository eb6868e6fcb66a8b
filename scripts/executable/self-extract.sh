#!/bin/sh
# keelson @VERSION@ with its own Node, in one file. The first start extracts it; every start runs what was extracted.
set -eu
case "${XDG_DATA_HOME:-}" in
  /*) programs=$XDG_DATA_HOME/keelson/program ;;
  *) programs=$HOME/.local/share/keelson/program ;;
esac
program=$programs/@PAYLOAD@
if [ ! -x "$program/bin/node" ]; then
  new=
  trap '[ -z "$new" ] || rm -rf "$new"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  (umask 077 && mkdir -p "$programs")
  new=$(mktemp -d "$programs/new.XXXXXX")
  if ! tail -n +@FIRST_LINE@ "$0" | gzip -dc | tar -xf - -C "$new"; then
    echo "Error: keelson could not be extracted to $programs. Is the file complete, and is there room for 170 MB?" >&2
    exit 1
  fi
  # Another first start may have been quicker; both have extracted the same.
  if ! mv -T "$new" "$program" 2>/dev/null; then
    rm -rf "$new"
    [ -x "$program/bin/node" ]
  fi
fi
exec "$program/bin/node" -- "$program/keelson/dist/main.js" "$@"
