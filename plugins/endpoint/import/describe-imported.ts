import type { ImportedEndpoint } from './read-vmcp-config.ts'

/** Shows what an import would make and what it leaves behind, a line each. */
export function describeImported({ name, settings, leftBehind }: ImportedEndpoint): string[] {
  const { group, servers = [], naming, call_timeout: seconds, call_timeouts: single = {} } = settings
  return [
    `${name}: ${group === undefined ? `servers ${servers.join(', ')}` : `group ${group}`}, naming ${naming}`,
    ...(seconds === undefined ? [] : [`  calls may take ${seconds} s`]),
    ...Object.entries(single).map(([server, time]) => `  calls of ${server} may take ${time} s`),
    ...leftBehind.map(line => `  left behind: ${line}`),
  ]
}
