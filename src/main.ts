#!/usr/bin/env -S node --
// Behind `--` Node leaves our own `--env-file` alone, which it reads wherever else it stands.
// Nothing is imported before this check: on an older Node the program itself may not even parse.
const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number)
const fits =
  (major === 22 && (minor > 22 || (minor === 22 && patch >= 2))) ||
  (major === 24 && minor >= 15) ||
  major >= 26

// Else Node opens its inspector at this signal, in which others could read what we hold and run code as us.
process.on('SIGUSR1', () => {})

if (fits) {
  const { main } = await import('./program.ts')
  process.exitCode = await main()
} else {
  process.stderr.write(
    `Error: keelson needs Node.js 22.22.2, 24.15 or 26 (or newer of these lines); this is ${process.versions.node}.\n`,
  )
  process.exitCode = 1
}

export {}
