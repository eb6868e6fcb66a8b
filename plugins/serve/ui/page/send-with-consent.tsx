import type { WantedPermissions } from '../page-types.d.ts'
import { type Api, Refusal } from './api.ts'
import { confirm } from './dialog.tsx'

/**
 * Sends a request that creates or upgrades a workload. If the registry entry asks for files of the machine, the
 * user is asked, and the request is sent again with the hash of what was shown. Other mounts are asked about again.
 */
export async function sendWithConsent(api: Api, path: string, body: object, signal?: AbortSignal) {
  for (let agreed = {}; ; ) {
    try {
      return await api.send('POST', path, { ...body, ...agreed }, signal)
    } catch (error) {
      const wanted = wantedBy(error)
      if (!wanted) throw error
      if (!(await isAgreed(wanted))) throw new Refusal(0, 'Access was not granted. Nothing was changed.')
      agreed = { accept_permissions: wanted.hash }
    }
  }
}

const wantedBy = (error: unknown): WantedPermissions | undefined =>
  error instanceof Refusal && error.body.code === 'permissions_unaccepted'
    ? (error.body.wanted_permissions as WantedPermissions)
    : undefined

const isAgreed = ({ server, mounts }: WantedPermissions): Promise<boolean> =>
  confirm({
    title: 'Allow access to files of this machine?',
    text: `The registry entry of ${server} asks for access:`,
    more: (
      <>
        <ul class="mounts">
          {mounts.map(({ access, source, target, remark }) => (
            <li key={target}>
              {access === 'write' ? 'to read and change ' : 'to read '}
              <code>{source}</code>
              {target !== source && ' as '}
              {target !== source && <code>{target}</code>}
              {remark && <strong> ({remark})</strong>}
            </li>
          ))}
        </ul>
        <p class="soft">
          It runs somebody else’s code, which can change every file that you allow it to change.
        </p>
      </>
    ),
    action: 'Allow',
    danger: true,
  })
