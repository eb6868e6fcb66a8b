/*
 * Becomes the server: process id and streams stay, and the environment comes from its input. If the input names
 * an agent, the agent starts first, and the server waits until it listens. Files that our parent left open for its
 * children are closed, since the server must not use them.
 */
const fs = require('node:fs')
const INPUT_FD = Number('__INPUT_FD__')
const O_CLOEXEC = 0o2000000 // open(2)
const { command, env, agent } = JSON.parse(fs.readFileSync(INPUT_FD, 'utf8'))
fs.closeSync(INPUT_FD)
const open = fs.existsSync('/proc/self/fdinfo') ? fs.readdirSync('/proc/self/fdinfo').map(Number) : []
for (const fd of open.filter(fd => fd > 2))
  try {
    const flags = /flags:\s*(\d+)/.exec(fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))
    if (!(parseInt(flags[1], 8) & O_CLOEXEC)) fs.closeSync(fd)
  } catch {}
const become = () => process.execve(command[0], command, env)
if (agent) {
  const child = require('node:child_process').spawn(process.execPath, agent, {
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.once('exit', () => process.exit(1))
  child.stdout.once('data', become)
} else become()
