// Runs a tool, and forwards connections to the proxy's port through the proxy's socket file.
const net = require('node:net')
const [path, port, program, ...args] = process.argv.slice(1)
const options = { allowHalfOpen: true, noDelay: true }
net
  .createServer(options, client => {
    globalThis.joinSockets(client, net.connect({ path, ...options }))
  })
  .listen(Number(port), '127.0.0.1', () => {
    const tool = require('node:child_process').spawn(program, args, { stdio: 'inherit' })
    tool.on('error', error => {
      console.error(error.message)
      process.exit(127)
    })
    tool.on('exit', code => process.exit(code ?? 1))
  })
