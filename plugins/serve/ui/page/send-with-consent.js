/** @import { Api } from './api.js' */
/** @import { WantedPermissions } from '../page-types.d.ts' */
import { Refusal } from './api.js'
import { confirm } from './dialog.js'
import { element } from './element.js'

/**
 * Sends what makes or upgrades a workload. When the registry's entry wants files of the machine, the user
 * is asked, and it is sent again with the hash of what was shown; something else is asked for anew.
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
      if (!(await isAgreed(wanted))) throw new Refusal(0, 'It was not given what it wants. Nothing was done.')
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
    title: 'Let it use files of this machine?',
    text: `The registry's entry of ${server} wants:`,
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
        'It runs somebody else’s code. Whatever it may change, that code may change.',
      ),
    ],
    action: 'Let it',
    danger: true,
  })
