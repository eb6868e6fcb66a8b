import type { PublicBase } from '../public-base.ts'
import type { MapEndpoint } from './endpoint-event.ts'
import type { TargetPath } from './target-path.ts'

/**
 * Makes announced endpoints lead back to the proxy.
 *
 * A configured prefix or trusted headers say how; without them a relative endpoint already does, and an
 * absolute one that names the server itself becomes relative. Endpoints elsewhere are not ours to change.
 */
export function createEndpointMap(target: TargetPath, base: PublicBase): MapEndpoint {
  return announced => {
    const url = URL.parse(announced, `${target.origin}/`)
    if (!url || url.origin !== target.origin) return announced
    const absolute = /^[a-z][a-z0-9+.-]*:|^\/\//i.test(announced)
    const path = `${target.publicPath(url.pathname)}${url.search}`
    if (base.origin === undefined && base.prefix === '') {
      if (absolute) return path
      return announced.startsWith('/') ? target.publicPath(announced) : announced
    }
    return `${base.origin ?? ''}${base.prefix}${path}`
  }
}
