/** @import { Api } from './api.js' */
/** @import { Workload } from '../page-types.d.ts' */
import { confirm } from './dialog.js'
import { element } from './element.js'
import { showProblem } from './notices.js'
import { isBusy, isUp } from './status.tsx'

/**
 * The buttons of a workload. What they begin goes on behind the answer, and shows in its status.
 * @param {Api} api
 * @param {string} name
 */
export function createActions(api, name) {
  const path = `/api/v1beta/workloads/${encodeURIComponent(name)}`
  /**
   * @param {string} method
   * @param {string} place
   */
  const send = (method, place) => api.send(method, place).catch(showProblem)

  const button = (/** @type {string} */ text, /** @type {() => unknown} */ onclick) =>
    element(
      'button',
      { type: 'button', onclick: (/** @type {Event} */ event) => isOff(event) || onclick() },
      text,
    )

  /** One button, so that the focus stays where it is when the workload goes up or down. */
  const toggle = button('Stop', async () => {
    if (toggle.textContent === 'Start') return send('POST', `${path}/restart`)
    const text = 'Clients that are connected to it lose it. It can be started again.'
    if (await confirm({ title: `Stop ${name}?`, text, action: 'Stop' })) await send('POST', `${path}/stop`)
  })
  const restart = button('Restart', async () => {
    const text = 'Clients that are connected to it are cut off for a moment.'
    if (await confirm({ title: `Restart ${name}?`, text, action: 'Restart' }))
      await send('POST', `${path}/restart`)
  })
  const remove = button('Delete', async () => {
    const text = 'It is stopped, and its configuration is deleted. That cannot be taken back.'
    const question = { title: `Delete ${name}?`, text, action: 'Delete', danger: true }
    if (await confirm(question)) await send('DELETE', path)
  })
  remove.classList.add('danger')

  return {
    node: element('div', { class: 'actions' }, toggle, restart, remove),
    /** @param {Workload} workload */
    show({ status }) {
      toggle.textContent = isUp(status) ? 'Stop' : 'Start'
      const busy = isBusy(status) && status !== 'starting'
      // Neither `disabled` nor hidden: the focus would be lost.
      toggle.ariaDisabled = busy ? 'true' : null
      restart.ariaDisabled = busy || !isUp(status) ? 'true' : null
    },
  }
}

/** @param {Event} event */
const isOff = ({ currentTarget }) => currentTarget instanceof Element && currentTarget.ariaDisabled === 'true'
