import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isFailure } from '../../src/errors.ts'
import { failures } from './failures.ts'
import { parseRegistry, type RegistryDocument } from './formats/parse-registry.ts'
import { type Access, ask, fetchPage } from './sources/fetch-page.ts'
import { readRegistryFile } from './sources/file-source.ts'

/** A registry that can be set: what it is, and where. */
export interface Detected {
  readonly kind: 'file' | 'url' | 'api'
  readonly place: string
}

/**
 * Finds out what a URL or path is and whether it can be used, before anything is stored. A URL that
 * does not end in `.json` is asked whether it speaks the MCP registry protocol.
 */
export async function detectSource(
  source: string,
  { access, cwd, auth }: { access: Access; cwd: string; auth: boolean },
): Promise<Detected> {
  if (!/^https?:\/\//i.test(source)) return fromFile(source, cwd)
  const url = URL.parse(source)
  if (!url?.hostname) throw failures.source_invalid({ source, problem: 'it is not a URL' })
  if (url.username || url.password) {
    throw failures.source_invalid({
      source: `${url.protocol}//…@${url.host}`,
      problem: 'it holds a user name or password',
    })
  }
  if (url.protocol === 'http:' && !access.allowPrivate) {
    throw failures.source_invalid({
      source,
      problem: 'plain http is only for private networks (--allow-private-ip)',
    })
  }
  // With a login only the login can tell, and that comes later.
  if (!url.pathname.endsWith('.json') && (auth || (await speaksProtocol(source, access))))
    return { kind: 'api', place: source }
  const page = await fetchPage(source, access, { timeoutMs: access.timeouts.probeMs })
  if (!page) throw failures.registry_refused({ place: source, status: 404, problem: '' })
  assertUsable(page.text, source)
  return { kind: 'url', place: source }
}

async function fromFile(source: string, cwd: string): Promise<Detected> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source) && !source.startsWith('file://')) {
    throw failures.source_invalid({ source, problem: 'only https, http and file URLs are read' })
  }
  const path = source.startsWith('file://')
    ? pathOf(source)
    : isAbsolute(source)
      ? source
      : resolve(cwd, source)
  if (!path.endsWith('.json')) throw failures.source_invalid({ source, problem: 'a file must end in .json' })
  assertUsable(await readRegistryFile(path), path)
  return { kind: 'file', place: path }
}

function pathOf(source: string): string {
  try {
    return fileURLToPath(source)
  } catch (error) {
    throw failures.source_invalid({ source, problem: 'it names no file of this host' }, { cause: error })
  }
}

/** A registry with anything in it, none of it wrong. */
function assertUsable(text: string, place: string): RegistryDocument {
  const { document, problems } = parse(text, place)
  if (problems.length) throw failures.registry_invalid({ place, problems })
  const { servers, skills, plugins, groups } = document
  if (servers.length + skills.length + plugins.length + groups.length === 0)
    throw failures.registry_empty({ place })
  return document
}

function parse(text: string, place: string) {
  try {
    return parseRegistry(text, place)
  } catch (error) {
    if (!isFailure(error, 'invalid_file')) throw error
    throw failures.registry_invalid(
      { place, problems: [error.message.replace(`${place} is not valid: `, '')] },
      { cause: error },
    )
  }
}

async function speaksProtocol(source: string, access: Access): Promise<boolean> {
  const url = `${source.replace(/\/+$/, '')}/v0.1/servers?limit=1&version=latest`
  const response = await ask(url, access, { timeoutMs: access.timeouts.probeMs })
  if (response.status === 401 || response.status === 403) return true
  if (response.status !== 200 || !/\bjson\b/.test(response.header('content-type') ?? '')) return false
  try {
    const { servers, metadata } = JSON.parse(response.body.toString('utf8'))
    return Array.isArray(servers) && typeof metadata === 'object' && metadata !== null
  } catch {
    return false
  }
}
