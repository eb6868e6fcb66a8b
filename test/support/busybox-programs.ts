import type { ProgramKind } from './runtime-contract.ts'

const shell = (script: string) => ['sh', '-c', script]

const PROGRAMS: Readonly<Record<ProgramKind, readonly string[]>> = {
  echo: ['cat'],
  sleep: shell('echo ready; exec sleep 3600'),
  'ignore-term': shell("trap '' TERM; echo ready; while :; do sleep 1; done"),
  'exit-7': shell('exit 7'),
  'print-env': ['env', '-0'],
  lines: shell('for i in 1 2 3 4 5; do echo line $i; done; sleep 0.1; echo oops >&2; exec sleep 3600'),
  http: shell('mkdir /tmp/www; echo hello >/tmp/www/index.html; exec httpd -f -p "$PORT" -h /tmp/www'),
  files: shell('cat "$READ"; echo changed >"$READ"; echo made >"$WRITE"'),
  'eat-memory': shell('x=0123456789abcdef; while :; do x=$x$x; done'),
}

/** The suite's programs in the image with nothing but busybox. */
export const busyboxProgram = (kind: ProgramKind) => ({
  image: 'keelson-test/busybox:1',
  args: PROGRAMS[kind],
})
