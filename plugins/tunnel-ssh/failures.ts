import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  ssh_args_wrong: {
    status: 400,
    exit: 2,
    text: (d: { problem: string }) => `--provider-args for ssh: ${d.problem}.`,
    hint: 'Members: destination, remote-port, bind-address, port, identity-file, known-hosts-file, url.',
  },
  ssh_tunnel_failed: {
    status: 502,
    text: (d: { destination: string; problem: string }) =>
      `No tunnel through ${d.destination} could be opened: ${d.problem}.`,
    hint: d =>
      `\`ssh ${d.destination}\` must work without a question: the host must be known, and the key usable. The server must allow forwarding (AllowTcpForwarding, GatewayPorts).`,
  },
})
