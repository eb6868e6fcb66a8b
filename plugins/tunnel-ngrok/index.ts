import type { Plugin } from '../../src/plugin.ts'
import { createNgrokTunnels } from './ngrok-tunnels.ts'

/** Tunnels of the service ngrok, through its program. */
const tunnelNgrok: Plugin = {
  name: 'tunnel-ngrok',
  needs: ['proxy-command'],
  provides: { tunnels: [createNgrokTunnels] },
}
export default tunnelNgrok
