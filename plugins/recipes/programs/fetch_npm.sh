# Fetches the npm package $1, as the manifest beside this file asks for it, and runs none of its scripts. All other
# arguments are npm's.
set -eu
name=$1
shift
cp /keelson/package.json .
npm install --package-lock-only "$@"
node /keelson/check-lock.cjs "$name"
npm ci "$@"
