import { createHash, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageBuild, ImageStore, Report, WaitOptions } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { withBuildContext } from './build-context.ts'
import type { BuildNetwork, Reach } from './build-network.ts'
import { holdsSecrets, isConfidential, withStageLabel } from './build-variables.ts'
import { failures } from './failures.ts'
import { copySource, type LocalSource } from './local-source.ts'
import { type Recipe, type RecipeBuild, SCRIPTS_LINE, VERSION_LINE } from './recipe.ts'

/** What the builds of a recipe need beside it. */
export interface BuildOrder extends Recipe {
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
  readonly key: string
  readonly source: LocalSource | undefined
  readonly secrets: readonly string[]
  /** What the network of the last build leads to. */
  readonly reach: Reach
}

/**
 * Makes an image, build by build. Returns the version that the builds told. `owner` keeps apart those
 * who build the same at the same time. Fails with `recipe_scripts_failed` where code of a package did.
 */
export async function buildInTurn(
  images: ImageStore,
  order: BuildOrder,
  {
    owner,
    openNetwork,
    signal,
    report,
  }: WaitOptions & {
    owner: string
    report: Report
    /** Opens the network of a build that has one to itself; `image` is on the engine. */
    openNetwork: (image: string) => Promise<BuildNetwork>
  },
): Promise<string | undefined> {
  const id = createHash('sha256').update(`${owner}\0${order.key}`).digest('hex').slice(0, 32)
  const made = new Map<string, string>()
  const sayings = createSayings(report, order.reach)
  try {
    for (const build of order.builds) {
      const { name, network } = build
      const tag = name === undefined ? order.tag : `keelson.local/building:${id}-${name}`
      const { dockerfile, passing } = withPassingStage(build, made, order.secrets)
      sayings.begin(build)
      await withBuildContext(async context => {
        await writeContext(context, { ...build, dockerfile }, order.source)
        const labels = name === undefined ? order.labels : {}
        const make = async (joined: ImageBuild['network']) => {
          const rest = { ...(passing ? { passing } : {}), ...(joined ? { network: joined } : {}) }
          const wait = { signal, report: sayings.report }
          await images.build({ tag, context, dockerfile, labels, ...rest }, wait)
        }
        if (network !== 'registries') return make(network)
        const opened = await openNetwork(made.get('fetched') ?? '')
        sayings.watch(opened.denied)
        await make(opened.network).finally(opened.close)
      })
      if (name !== undefined) made.set(name, tag)
    }
    sayings.end()
    return sayings.version()
  } catch (error) {
    throw sayings.explain(error)
  } finally {
    // Their layers stay, as the cache of the engine. None holds a login.
    for (const tag of made.values()) {
      await images.remove(tag).catch(error => report(`warning: ${messageOf(error)}`))
    }
  }
}

/** The Dockerfile with what earlier builds made. The label is new for each build: nobody else's stages go with it. */
function withPassingStage(
  { name, dockerfile, files }: RecipeBuild,
  made: ReadonlyMap<string, string>,
  secrets: readonly string[],
): { dockerfile: string; passing?: string } {
  if (name === undefined) {
    return {
      dockerfile: dockerfile.replace(/^FROM (\w+)/gm, (line, base) =>
        made.has(base) ? `FROM ${made.get(base)}` : line,
      ),
    }
  }
  const isSecret = [...files.keys()].some(isConfidential) && (secrets.length > 0 || holdsSecrets(files))
  if (!isSecret) return { dockerfile }
  const passing = `keelson-build=${randomUUID()}`
  return { dockerfile: withStageLabel(dockerfile, passing), passing }
}

async function writeContext(
  context: string,
  { name, files, dockerfile }: RecipeBuild,
  source: LocalSource | undefined,
): Promise<void> {
  if (source && name !== 'base') {
    await copySource(source, source.dockerfile === undefined ? join(context, 'source') : context)
  }
  for (const [path, content] of files) {
    await writeFile(join(context, path), content, { mode: isConfidential(path) ? 0o600 : 0o666 })
  }
  await writeFile(join(context, 'Dockerfile'), dockerfile)
}

/** BuildKit puts the number of the step and a time in front. */
const SAYING = new RegExp(`^(?:#\\d+ [\\d.]+ )?(${VERSION_LINE}|${SCRIPTS_LINE})(.*)$`)
const VERSION = /^[\w.+!-]{1,64}$/
const PACKAGE = /^(?:@[\w.~-]+\/)?[\w.~-]+@?[\w.+!-]*$/

/** Follows what the builds print: the version that was fetched, and that code of packages is about to run. */
function createSayings(report: Report, { registries, hosts }: Reach) {
  const reachable = [...new Set([...registries.map(url => new URL(url).host), ...hosts])].join(', ')
  let denied: ReadonlySet<string> = new Set()
  let version: string | undefined
  let current: RecipeBuild | undefined
  let codeOf: string | undefined
  return {
    begin(build: RecipeBuild) {
      current = build
    },
    watch(hosts: ReadonlySet<string>) {
      denied = hosts
    },
    version: () => version,
    report(line: string, kind?: Parameters<Report>[1]) {
      const [, mark, text = ''] = SAYING.exec(line) ?? []
      // Once code of packages runs, it may print whatever it likes.
      if (mark === undefined || codeOf !== undefined) return report(line, kind)
      if (mark === VERSION_LINE) {
        if (VERSION.test(text)) version = text
        return
      }
      if (current?.name !== undefined) return // only the last build runs any
      codeOf = text
        .split(' ')
        .filter(name => PACKAGE.test(name))
        .join(', ')
      report(
        current?.network === 'none'
          ? `Running install scripts of ${codeOf} (without logins, without network)`
          : `warning: install scripts of ${codeOf} may reach ${reachable} (without logins)`,
      )
    },
    end() {
      if (denied.size === 0) return
      report(`warning: install scripts of ${codeOf} wanted to reach ${[...denied].join(', ')}: not allowed`)
    },
    explain(error: unknown): unknown {
      if (codeOf === undefined || !isFailure(error, 'build_failed')) return error
      const words = error.message.split('\n').slice(1).join('\n')
      if (denied.size > 0) {
        const cause = { packages: codeOf, denied: [...denied].join(', '), words }
        return failures.recipe_scripts_denied(cause, { cause: error })
      }
      if (current?.network !== 'none') return error
      return failures.recipe_scripts_failed({ packages: codeOf, words }, { cause: error })
    },
  }
}
