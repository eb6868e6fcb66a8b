import { join } from 'node:path'
import * as t from 'typanion'
import type { ImageStore, Report, Runtime, WaitOptions } from '../../src/contracts/runtime.ts'
import { Failure } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { redactValues } from '../../src/lib/redact.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { buildInTurn } from './build-in-turn.ts'
import type { BuildNetworks } from './build-network.ts'
import { LABEL_KEY, LABEL_VERSION, type Plan } from './plan-package.ts'

const LOCK_SECONDS = 30 * 60
const lastBuilt = t.isObject({ image: t.isString(), version: t.isString() })

/** What builds need besides the plan. */
export interface BuildHost {
  /** Holds locks and what was built last. */
  readonly folder: string
  /** Without it no code of packages gets a network. */
  readonly networks: BuildNetworks | undefined
}

type BuildWait = WaitOptions & { readonly runtime: Pick<Runtime, 'name' | 'images' | 'isolation'> }

/** Returns the image of a plan. Builds it unless the runtime has it already, or an earlier one can replace it. */
export async function findOrBuild(
  host: BuildHost,
  images: ImageStore,
  made: Plan,
  wait: BuildWait,
): Promise<{ image: string; version: string }> {
  const there = await alreadyBuilt(images, made)
  if (there) return there
  const standIn = made.problem === undefined ? undefined : await builtBefore(host, images, made)
  if (standIn) {
    wait.report?.(`warning: no newer version could be asked for (${made.problem}); using ${standIn.version}`)
    return standIn
  }
  const lock = join(host.folder, `${made.key}.${wait.runtime.name}.lock`)
  const work = async () => (await alreadyBuilt(images, made)) ?? buildImage(host, images, made, wait)
  return withFileLock(lock, work, { seconds: LOCK_SECONDS })
}

async function buildImage(
  { folder, networks }: BuildHost,
  images: ImageStore,
  made: Plan,
  wait: BuildWait,
): Promise<{ image: string; version: string }> {
  const { tag, secrets, reach } = made
  const { runtime, signal } = wait
  wait.signal?.throwIfAborted()
  wait.report?.(`Building ${tag}`)
  const report: Report = (line, kind) => wait.report?.(redactValues(line, secrets), kind)
  let said: string | undefined
  try {
    const openNetwork = async (image: string) => {
      if (!networks) throw new Error('this program has no networks for builds')
      return networks.open({ runtime, image, reach, report, signal })
    }
    said = await buildInTurn(images, made, { owner: folder, openNetwork, signal, report })
  } catch (error) {
    throw withoutSecrets(error, secrets)
  }
  const version = made.version ?? said ?? 'latest'
  await writeFileAtomic(join(folder, `${made.base}.json`), JSON.stringify({ image: tag, version }))
  return { image: tag, version }
}

async function alreadyBuilt(
  images: ImageStore,
  { tag, key, version }: Plan,
): Promise<{ image: string; version: string } | undefined> {
  const labels = await images.labels(tag)
  if (labels?.[LABEL_KEY] !== key) return undefined
  return { image: tag, version: version ?? labels[LABEL_VERSION] ?? 'latest' }
}

/** The last image that was built for the same request while the registry could still be asked. */
async function builtBefore(
  { folder }: BuildHost,
  images: ImageStore,
  { base }: Plan,
): Promise<{ image: string; version: string } | undefined> {
  const path = join(folder, `${base}.json`)
  const text = await readFileIfThere(path)
  if (text === undefined) return undefined
  const found = parseDocument(text, path, lastBuilt)
  return (await images.has(found.image)) ? found : undefined
}

/** Hides secrets in a failure, since it shows the last lines of the build, and a package may print its variables. */
function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Failure) || secrets.length === 0) return error
  const { code, status, exit, hint, message } = error
  return new Failure(code, { text: redactValues(message, secrets), status, exit, hint })
}
