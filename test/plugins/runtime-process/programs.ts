import type { ProgramKind } from '../../support/runtime-contract.ts'

const shell = (script: string) => ['sh', '-c', script]

const SERVER = `require('node:http').createServer((_, res) => res.end('hello')).listen(process.env.PORT)`

const PROGRAMS: Partial<Record<ProgramKind, readonly string[]>> = {
  echo: ['cat'],
  sleep: shell('echo ready; exec sleep 3600'),
  'ignore-term': shell("trap '' TERM; echo ready; while :; do sleep 1; done"),
  'exit-7': shell('exit 7'),
  'print-env': ['env', '-0'],
  lines: shell('for i in 1 2 3 4 5; do echo line $i; done; sleep 0.1; echo oops >&2; exec sleep 3600'),
  http: ['node', '-e', SERVER],
  files: shell('cat "$READ"; echo changed >"$READ"; echo made >"$WRITE"'),
}

/** The suite's programs as arguments of a package that runs whatever it is given. */
export const hostProgram = (kind: ProgramKind) => ({
  image: 'npx://run-arguments@1.0.0',
  args: PROGRAMS[kind] ?? [],
})
