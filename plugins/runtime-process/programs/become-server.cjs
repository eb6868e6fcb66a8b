// Becomes the server: process id and streams stay, and the environment comes from its input.
const { command, env } = globalThis.input
process.execve(command[0], command, env)
