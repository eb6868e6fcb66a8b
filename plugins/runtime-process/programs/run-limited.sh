# Runs a command without core dumps, with at most $1 KiB of data and $2 processes ("" for no limit). A limit that
# is tighter already stays. The letter for RLIMIT_NPROC depends on the shell.
ulimit -c 0
if [ -n "$1" ]; then ulimit -d "$1" 2>/dev/null; fi
if [ -n "$2" ]; then { ulimit -u "$2" || ulimit -p "$2"; } 2>/dev/null; fi
shift 2
exec "$@"
