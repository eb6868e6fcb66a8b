import type { InstanceSpec } from '../../src/contracts/runtime.ts'
import { programText } from '../../src/lib/program-text.ts'
import { EGRESS_PORT } from './sandbox-network.ts'

/** Folder of the sockets inside a sandbox. */
export const SOCKETS = '/run/keelson'

/** File descriptor that the starter reads its input from. */
export const STARTER_INPUT_FD = 4

/** File descriptor that bubblewrap reads the seccomp filter from. */
export const SECCOMP_FD = 5

const programOf = (file: string): string => programText(`plugins/runtime-process/programs/${file}`)

/** The text of a program that uses `joinSockets`. */
export const withJoinSockets = (file: string): string => programOf('join-sockets.cjs') + programOf(file)

const READ_INPUT = programText('plugins/runtime-process/programs/read-input.cjs', {
  INPUT_FD: String(STARTER_INPUT_FD),
})
const BECOME_SERVER = READ_INPUT + programOf('become-server.cjs')
const AGENT = READ_INPUT + withJoinSockets('network-agent.cjs')

/** The agent only forwards bytes, so a small heap does. */
const AGENT_FLAGS = ['--no-warnings', '--max-old-space-size=24']

/**
 * Runs where the server will run, inside the sandbox if there is one, and reads command and variables from a file
 * descriptor. So variables that a stranger may have chosen (LD_PRELOAD, NODE_OPTIONS) affect the server and no
 * program before it, and their values never appear in arguments. The starter of an instance without a network stays
 * with it as its agent; any other becomes the server.
 */
export function starterCommand({
  isolatedNetwork,
  ports,
}: Pick<InstanceSpec, 'isolatedNetwork' | 'ports'>): string[] {
  if (!isolatedNetwork) return [process.execPath, '--no-warnings', '-e', BECOME_SERVER]
  const offered = new Set(ports.map(({ instancePort }) => String(instancePort)))
  return [process.execPath, ...AGENT_FLAGS, '-e', AGENT, SOCKETS, String(EGRESS_PORT), ...offered]
}

/** Returns what the starter reads. */
export const starterInput = (input: {
  command: readonly string[]
  env: Readonly<Record<string, string>>
}): string => JSON.stringify(input)
