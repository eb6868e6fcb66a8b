// Part of other programs: reads command and environment of the server from their input. Files that our parent left open
// for its children are closed, since the server must not use them.
{
  const fs = require('node:fs')
  const INPUT_FD = Number('__INPUT_FD__')
  const O_CLOEXEC = 0o2000000 // open(2)
  const { command, env } = JSON.parse(fs.readFileSync(INPUT_FD, 'utf8'))
  fs.closeSync(INPUT_FD)
  const open = fs.existsSync('/proc/self/fdinfo') ? fs.readdirSync('/proc/self/fdinfo').map(Number) : []
  for (const fd of open.filter(fd => fd > 2))
    try {
      const flags = /flags:\s*(\d+)/.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))
      if (!(parseInt(flags[1], 8) & O_CLOEXEC)) fs.closeSync(fd)
    } catch {}
  globalThis.input = { command, env }
}
