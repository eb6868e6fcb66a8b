# Installs the Go program $2 (path@version) with the flag $1 of `go install`.
#
# `go install` refuses a module that replaces others; as a dependency of a module it is built without them.
# With -n the packages are loaded, and it is only shown what would be done with them.
flag=$1
program=$2
go install "$flag" "$program" && exit
mkdir -p /fetched/build && cd /fetched/build || exit
if [ "$flag" = -n ]; then
  go mod init build.invalid/build && go get "$program"
else
  test -e go.mod
fi && go install "$flag" "${program%@*}"
