# Makes /app of the fetched npm package $1, and runs its install scripts if there are any. All other arguments are
# npm's.
set -eu
name=$1
shift
mv /fetched/app /app
cd /app
node /keelson/run-scripts.cjs npm ci --foreground-scripts "$@"
node /keelson/link-entry.cjs "$name"
