import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  ngrok_args_wrong: {
    status: 400,
    exit: 2,
    text: (d: { problem: string }) => `--provider-args for ngrok: ${d.problem}.`,
    hint: 'Members: url, traffic-policy-file, pooling, dry-run, auth-token (better in NGROK_AUTHTOKEN).',
  },
  ngrok_tunnel_failed: {
    status: 502,
    text: (d: { problem: string }) => `ngrok opened no tunnel: ${d.problem}.`,
    hint: 'Install the program ngrok, and put your token into the variable NGROK_AUTHTOKEN.',
  },
})
