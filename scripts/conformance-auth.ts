import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkAuthorizationServer } from '../test/conformance/authorization-server.ts'

// Runs the `auth` scenarios of the official conformance suites with keelson as the client, and those for authorization
// servers against the one of a workload, and writes what they found into docs/conformance-auth.md. `npm run build && node scripts/conformance-auth.ts`

const run = promisify(execFile)
const root = new URL('..', import.meta.url).pathname
const program = join(root, 'test/conformance/program-client.ts')
const engine = join(root, 'test/conformance/auth-client.ts')
const target = join(root, 'docs/conformance-auth.md')
const AT_ONCE = 2

/** Scenarios of extensions that keelson does not have, and of logins that it refuses. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'auth/2025-03-26-oauth-endpoint-fallback':
    'refused: a server without any metadata does not say that it knows PKCE',
  '@modelcontextprotocol/conformance auth/2025-03-26-oauth-metadata-backcompat':
    'refused: its metadata names another issuer (RFC 8414 section 3.3); the newer suite has put that right',
  'auth/cross-app-access-complete-flow': 'extension for enterprises (ID-JAG), not built',
  'auth/enterprise-managed-authorization': 'extension for enterprises (ID-JAG), not built',
  'auth/dpop': 'extension DPoP (RFC 9449), not built',
  'auth/dpop-nonce': 'extension DPoP (RFC 9449), not built',
  'auth/wif-jwt-bearer': 'extension for workload identities, not built',
}

/** Logins without a person. */
const isEngineOnly = (scenario: string): boolean => scenario.startsWith('auth/client-credentials')

interface Row {
  readonly scenario: string
  readonly revision: string
  readonly passed: number
  readonly failed: readonly string[]
}

const suites = [
  { name: '@modelcontextprotocol/conformance', revisions: ['2025-11-25'] },
  { name: 'conformance-2026', revisions: ['2025-11-25', '2026-07-28'] },
] as const

async function scenariosOf(suite: string): Promise<{ name: string; tags: readonly string[] }[]> {
  const { stdout } = await run(process.execPath, [join(root, 'node_modules', suite, 'dist/index.js'), 'list'])
  return [...stdout.matchAll(/^\s*- (auth\/\S+) \[([^\]]*)\]/gm)].map(([, name = '', tags = '']) => ({
    name,
    tags: tags.split(','),
  }))
}

async function runOne(suite: string, scenario: string, revision: string): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-conformance-'))
  try {
    const suiteProgram = join(root, 'node_modules', suite, 'dist/index.js')
    const command = `${process.execPath} ${isEngineOnly(scenario) ? engine : program}`
    const args = ['client', '--command', command, '--scenario', scenario, '-o', folder, '--timeout', '60000']
    // The older suite knows one way to run each scenario, and extensions have no date.
    const isDated = suite === 'conformance-2026' && /^\d/.test(revision)
    // It exits with 1 when a check failed; the checks say which.
    await run(process.execPath, [suiteProgram, ...args, ...(isDated ? ['--spec-version', revision] : [])], {
      cwd: folder,
      env: { ...process.env, KEELSON_TEST_MAIN: join(root, 'dist/main.js') },
    }).catch(() => undefined)
    const files = (await readdir(folder, { recursive: true })).filter(file => file.endsWith('checks.json'))
    const [file] = files
    if (file === undefined) return { scenario, revision, passed: 0, failed: ['the scenario did not run'] }
    const checks: { id: string; status: string }[] = JSON.parse(await readFile(join(folder, file), 'utf8'))
    return {
      scenario,
      revision,
      passed: checks.filter(({ status }) => status === 'SUCCESS').length,
      failed: checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id, status }) => (status === 'WARNING' ? `${id} (warning)` : id)),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The embedded authorization server, as a run config may have it. */
const SERVERS = [
  { told: 'as it is', members: {} },
  { told: 'with `cimd.enabled`', members: { cimd: { enabled: true } } },
]

async function authorizationServerRows(): Promise<string[]> {
  const lines: string[] = []
  for (const revision of ['2025-11-25', '2026-07-28']) {
    for (const { told, members } of SERVERS) {
      for (const { scenario, id, status } of await checkAuthorizationServer(members, revision)) {
        console.log(`${status} ${scenario} ${id} ${revision} ${told}`)
        if (status === 'FAILURE') failures++
        lines.push(`| ${revision} | ${told} | ${scenario} | ${id} | ${status.toLowerCase()} |`)
      }
    }
  }
  return lines
}

const sections: string[] = []
const left = new Map<string, string>()
let failures = 0
const serverRows = await authorizationServerRows()
for (const { name, revisions } of suites) {
  const { version } = JSON.parse(await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8'))
  const jobs = (await scenariosOf(name)).flatMap(scenario => {
    const why = LEFT_OUT[scenario.name] ?? LEFT_OUT[`${name} ${scenario.name}`]
    if (why !== undefined) {
      left.set(LEFT_OUT[scenario.name] ? scenario.name : `${scenario.name} (${version})`, why)
      return []
    }
    const own = revisions.filter(revision => scenario.tags.includes(revision))
    return (own.length ? own : scenario.tags).map(revision => ({ scenario: scenario.name, revision }))
  })
  const rows: Row[] = []
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const row = await runOne(name, job.scenario, job.revision)
      console.log(`${row.failed.length ? 'FAILED' : 'passed'} ${name} ${row.scenario} ${row.revision}`)
      rows.push(row)
    }
  })
  await Promise.all(workers)
  rows.sort((a, b) => a.revision.localeCompare(b.revision) || a.scenario.localeCompare(b.scenario))
  failures += rows.filter(row => row.failed.length || !row.passed).length
  const lines = rows.map(
    ({ scenario, revision, passed, failed }) =>
      `| ${revision} | ${scenario.slice(5)}${isEngineOnly(scenario) ? ' (engine)' : ''} | ${passed} | ${failed.join(', ') || 'none'} |`,
  )
  sections.push(
    `## ${name === 'conformance-2026' ? '@modelcontextprotocol/conformance' : name} ${version}`,
    '',
    '| Revision | Scenario | Checks passed | Failures and warnings |',
    '|---|---|---|---|',
    ...lines,
    '',
  )
}

await writeFile(
  target,
  [
    '# Conformance of logins',
    '',
    'The `auth` scenarios of the official conformance suites of the Model Context Protocol, with the built program as',
    'the client under test. `node scripts/conformance-auth.ts` writes this page. For each scenario',
    '`test/conformance/program-client.ts` starts `keelson proxy --remote-auth-skip-browser` in an empty home folder,',
    'follows the redirects of the address that it prints, in the place of a browser, and lists and calls tools through',
    'it. Where a server wants another login later (`scope-step-up`, `scope-retry-limit`,',
    '`authorization-server-migration`), it is a workload (`keelson run`), and `keelson auth login` is what the user',
    'types then. Scenarios marked *(engine)* are logins without a person, in which',
    '`test/conformance/auth-client.ts` uses the OAuth client of `plugins/auth-out` directly.',
    '',
    'The warning about `scope-step-up-initial`: `auth login` does not learn the scopes that a server names first in the',
    'middle of a session, and asks for those of its metadata.',
    '',
    ...sections,
    '## The authorization server',
    '',
    'The scenarios for authorization servers of 0.2.0 (0.1.16 has none), against the one that',
    '`embedded_auth_server_config` puts in front of a workload. It runs in the process of',
    '`test/conformance/authorization-server.ts`, not in the built program. The client of the suite registers at',
    '`/oauth/register`; a script logs in at an OpenID provider on loopback and agrees, in the place of a person. The',
    'suite sends `resource`, and tests nothing of refresh, revocation, introspection or the refusal of bad requests.',
    '',
    'The warning: client ID metadata documents are recommended, and off unless `cimd.enabled` is set, as in ToolHive.',
    '',
    '| Revision | Server | Scenario | Check | Result |',
    '|---|---|---|---|---|',
    ...serverRows,
    '',
    'The client scenarios cannot be run against this server: each of them starts an authorization server and an MCP',
    'server of its own, and takes no URL of another. `test/plugins/auth-server/sdk-client.test.ts` logs in here with the',
    'official clients instead.',
    '',
    '## Left out',
    '',
    '| Scenario | Why |',
    '|---|---|',
    ...[...left].sort().map(([scenario, why]) => `| ${scenario.slice(5)} | ${why} |`),
    '',
  ].join('\n'),
)
process.exitCode = failures ? 1 : 0
