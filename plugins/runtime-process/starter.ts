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

const AGENT = withJoinSockets('network-agent.cjs')
const BECOME_SERVER = programText('plugins/runtime-process/programs/become-server.cjs', {
  INPUT_FD: String(STARTER_INPUT_FD),
})

/**
 * Runs where the server will run, inside the sandbox if there is one, and reads command and variables from a file
 * descriptor. So variables that a stranger may have chosen (LD_PRELOAD, NODE_OPTIONS) affect the server and no
 * program before it, and their values never appear in arguments.
 */
export const starterCommand = (): string[] => [process.execPath, '--no-warnings', '-e', BECOME_SERVER]

/** Returns what the starter reads. `agentFor`: ports of an instance without a network, which needs an agent. */
export function starterInput(options: {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  agentFor?: readonly number[] | undefined
}): string {
  const { command, env, agentFor } = options
  const agent = agentFor && [
    '--no-warnings',
    '--max-old-space-size=24',
    '-e',
    AGENT,
    SOCKETS,
    String(EGRESS_PORT),
    ...new Set(agentFor.map(String)),
  ]
  return JSON.stringify({ command, env, agent })
}
