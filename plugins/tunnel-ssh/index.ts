import type { Plugin } from '../../src/plugin.ts'
import { createSshTunnels } from './ssh-tunnels.ts'

/** Tunnels through a server that the user reaches with ssh. */
const tunnelSsh: Plugin = {
  name: 'tunnel-ssh',
  needs: ['proxy-command'],
  provides: { tunnels: [createSshTunnels] },
}
export default tunnelSsh
