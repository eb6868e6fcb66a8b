# Waits for a line before it becomes the given program. keelson may be killed between starting a process and
# recording it; then the pipe closes without a line and nothing runs. Process id and start time stay the same.
read -r go <&__GATE_FD__ || exit 1
exec __GATE_FD__<&-
exec "$@"
