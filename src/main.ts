#!/usr/bin/env -S node --
// Behind `--` Node leaves our own `--env-file` alone, which it reads wherever else it stands.
// The program is loaded after this check: on an older Node it may not even parse.
import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { liesInProc } from './lib/lies-in-proc.ts'
import { findPaths } from './paths.ts'

const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number)
const fits =
  (major === 22 && (minor > 22 || (minor === 22 && patch >= 2))) ||
  (major === 24 && minor >= 15) ||
  major >= 26

// Else Node opens its inspector at this signal, in which others could read what we hold and run code as us.
process.on('SIGUSR1', () => {})

if (fits) {
  keepCompiled()
  void import('./program.ts')
    .then(({ main }) => main())
    .then(code => {
      process.exitCode = code
    })
} else {
  process.stderr.write(
    `Error: keelson needs Node.js 22.22.2, 24.15 or 26 (or newer of these lines); this is ${process.versions.node}.\n`,
  )
  process.exitCode = 1
}

/**
 * Lets Node keep the compiled program, which halves the time that the next start takes. What is kept is run later, so
 * this is done only in a folder that nobody else can write to.
 */
function keepCompiled(): void {
  try {
    const folder = join(findPaths(process.env).cache, 'compiled')
    if (liesInProc(folder)) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    if (isOurs) enableCompileCache(folder)
  } catch {
    // Without a place for it every start compiles the program anew.
  }
}
