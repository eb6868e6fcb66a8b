import { isEmpty } from '../../../src/lib/is-empty.ts'
import { isObject } from '../../../src/lib/is-object.ts'

export const LONGEST_NAME = 100
/** The default of `prefixFormat`, which names tools as `--naming prefix` does. */
export const PREFIX_FORMAT = '{workload}_'

/** By path in the file: what an imported endpoint lacks, and what to do. `is` says when; without it, whenever it is set. */
const UNSUPPORTED: Readonly<Record<string, { advice: string; is?: (value: unknown) => boolean }>> = {
  'incomingAuth.oidc': {
    advice: 'give the login with `keelson edit NAME --oidc-issuer … --oidc-audience …`',
  },
  'incomingAuth.authz': {
    advice: 'give the policies with `keelson edit NAME --authz-config FILE`',
    is: value => isObject(value) && value.type !== 'none',
  },
  'outgoingAuth.default': { advice: 'set the credentials of each server with `keelson edit SERVER`' },
  'outgoingAuth.backends': { advice: 'set the credentials of each server with `keelson edit SERVER`' },
  'aggregation.conflictResolutionConfig.prefixFormat': {
    advice: 'names get the prefix SERVER_ where two servers have the same',
    is: value => value !== PREFIX_FORMAT,
  },
  'aggregation.conflictResolutionConfig.priorityOrder': { advice: 'the first server by name counts' },
  'aggregation.tools': {
    advice: 'filter and rename tools with `keelson edit SERVER --tools … --tools-override FILE`',
  },
  'aggregation.excludeAllTools': { advice: 'tools stay visible', is: value => value === true },
  'aggregation.defaultToolVisibility': { advice: 'tools stay visible', is: value => value === 'deny' },
  compositeToolRefs: { advice: 'give the workflows with `--composite-tools FILE`' },
  'operational.failureHandling': {
    advice: 'health checks, partial lists and the circuit breaker have fixed settings',
  },
  'operational.logLevel': { advice: 'use --debug' },
  optimizer: { advice: 'tools are found by `--tool-mode search`, without its settings' },
  codeMode: { advice: 'scripts are not run', is: value => isObject(value) && value.enabled === true },
  sessionStorage: {
    advice: 'sessions are kept in memory',
    is: value => isObject(value) && value.provider !== 'memory',
  },
  rateLimiting: { advice: 'set limits with `keelson edit NAME --rate-limit …`' },
  telemetry: { advice: 'set it with `keelson edit NAME --otel-endpoint …`' },
  audit: { advice: 'set it with `keelson edit NAME --enable-audit`' },
  passthroughHeaders: { advice: 'headers of clients are not passed on' },
}

const KNOWN = new Set([
  ...[
    'name',
    'groupRef',
    'backends',
    'compositeTools',
    'incomingAuth',
    'outgoingAuth',
    'aggregation',
    'operational',
    'metadata',
  ],
  ...Object.keys(UNSUPPORTED),
])

/** What a file sets that an endpoint does not have, a line each. */
export function describeUnsupported(file: Readonly<Record<string, unknown>>): string[] {
  const known = Object.entries(UNSUPPORTED).flatMap(([path, { advice, is = () => true }]) => {
    const value = path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), file)
    return isEmpty(value) || !is(value) ? [] : [`${path}: ${advice}`]
  })
  const unknown = Object.keys(file).filter(name => !KNOWN.has(name))
  return [...known, ...unknown.map(name => `${name}: not a member of such a file`)]
}
