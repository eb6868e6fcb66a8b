/** @import { Api } from './api.js' */
/** @import { WantedPermissions } from '../page-types.d.ts' */
import { Refusal } from './api.js'
import { confirm } from './dialog.js'
import { element } from './element.js'

/**
 * Sends a request that creates or upgrades a workload. If the registry entry asks for files of the machine, the
 * user is asked, and the request is sent again with the hash of what was shown. Other mounts are asked about again.
 * @param {Api} api
 * @param {string} path
 * @param {object} body
 */
export async function sendWithConsent(api, path, body) {
  for (let agreed = {}; ; ) {
    try {
      return await api.send('POST', path, { ...body, ...agreed })
    } catch (error) {
      const wanted = wantedBy(error)
      if (!wanted) throw error
      if (!(await isAgreed(wanted))) throw new Refusal(0, 'Access was not granted. Nothing was changed.')
      agreed = { accept_permissions: wanted.hash }
    }
  }
}

/**
 * @param {unknown} error
 * @returns {WantedPermissions | undefined}
 */
const wantedBy = error =>
  error instanceof Refusal && error.body.code === 'permissions_unaccepted'
    ? /** @type {WantedPermissions} */ (error.body.wanted_permissions)
    : undefined

/** @param {WantedPermissions} wanted */
const isAgreed = ({ server, mounts }) =>
  confirm({
    title: 'Allow access to files of this machine?',
    text: `The registry entry of ${server} asks for access:`,
    more: [
      element(
        'ul',
        { class: 'mounts' },
        ...mounts.map(({ access, source, target, remark }) =>
          element(
            'li',
            {},
            access === 'write' ? 'to read and change ' : 'to read ',
            element('code', {}, source),
            target === source ? false : ' as ',
            target === source ? false : element('code', {}, target),
            remark ? element('strong', {}, ` (${remark})`) : false,
          ),
        ),
      ),
      element(
        'p',
        { class: 'soft' },
        'It runs somebody else’s code, which can change every file that you allow it to change.',
      ),
    ],
    action: 'Allow',
    danger: true,
  })
