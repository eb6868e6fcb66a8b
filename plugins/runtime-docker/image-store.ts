import * as t from 'typanion'
import type { ImageBuild, ImageStore, Report } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { redact } from '../../src/lib/redact.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { listBuilt } from './built-images.ts'
import { lastWords } from './diagnose.ts'
import type { BuildExtras, Dialect } from './dialect.ts'
import type { ApiRequest, EngineCli } from './engine-cli.ts'
import { failures } from './failures.ts'
import { withNamelessFile } from './nameless-file.ts'
import { unreachableHost } from './unreachable-host.ts'

const open = { extra: t.isUnknown() }
const inspected = t.isArray(
  t.isObject(
    {
      Config: t.isOptional(
        t.isNullable(t.isObject({ Labels: t.isOptional(t.isNullable(t.isRecord(t.isString()))) }, open)),
      ),
    },
    open,
  ),
)

/** Pulls and builds have no time limit: they end by themselves or by the caller's signal. */
const NO_LIMIT = 0
const BUILD_LINES = 20
/** Podman looks for steps among all images, and fails where another program removes one of them meanwhile. */
const LOST_CACHE = /checking if cached image exists from a previous build: .* not known/
/** How registries say that they have no such image. Some deny access to every name that they do not have. */
const UNKNOWN_IMAGE =
  /manifest unknown|name unknown|not found: manifest|repository does not exist|requested access to the resource is denied/

/**
 * Arguments that set the network and the proxy of all steps of a build. Without them engines hand the caller's
 * proxies to each step, from podman's environment or docker's settings, and these may hold a login.
 */
function networkArguments(network: NonNullable<ImageBuild['network']>): string[] {
  const [join, proxy] = network === 'none' ? ['none', ''] : [network.join, network.proxyUrl]
  const proxies = {
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, FTP_PROXY: '', ALL_PROXY: '' },
    NO_PROXY: proxy && 'localhost,127.0.0.1,::1',
  }
  return [
    `--network=${join}`,
    ...Object.entries(proxies).flatMap(([name, value]) => [
      `--build-arg=${name}=${value}`,
      `--build-arg=${name.toLowerCase()}=${value}`,
    ]),
  ]
}

/** Images as one engine keeps them. It is long because its methods share how the engine is asked and what it says. */
export function createImageStore({ dialect, cli }: { dialect: Dialect; cli: EngineCli }): ImageStore {
  const runtime = dialect.name
  let extras: Promise<BuildExtras> | undefined

  async function inspect(image: string) {
    const subject = { doing: `look for the image "${image}"`, image }
    try {
      const text = await cli.run(['image', 'inspect', '--', image], subject, { api: inspectRequest(image) })
      return parseDocument(text, `${runtime} image inspect`, inspected)[0]
    } catch (error) {
      if (isFailure(error, 'image_missing')) return undefined
      throw error
    }
  }

  const hasPlugin = (name: string) =>
    cli.run([name, 'version'], { doing: `look for its plugin ${name}` }).then(
      () => true,
      () => false,
    )

  /** Removes the untagged images with the label, and the images below them that nothing else uses. */
  async function forget(label: string, report: Report | undefined): Promise<void> {
    const doing = 'remove the stages of a build that hold secrets'
    await cli
      .run(['image', 'prune', '--force', `--filter=label=${label}`], { doing })
      .catch(error => report?.(`warning: ${messageOf(error)}`))
  }

  return {
    has: async reference => (await inspect(reference)) !== undefined,

    built: () => listBuilt(cli),

    async labels(reference) {
      const image = await inspect(reference)
      return image && (image.Config?.Labels ?? {})
    },

    async pull(reference, { signal, report } = {}) {
      const output = collect(report)
      try {
        await cli.run(
          ['pull', '--', dialect.toPullReference(reference)],
          { doing: `pull "${reference}"`, image: reference },
          { timeoutMs: NO_LIMIT, signal, onLine: output.add },
        )
      } catch (error) {
        if (!isFailure(error) || error.code === 'runtime_unavailable') throw error
        const problem = output.end(2) || error.message
        const host = unreachableHost(problem)
        const doing = `pull "${reference}"`
        if (host) throw failures.image_registry_unreachable({ runtime, doing, host }, { cause: error })
        const failure = UNKNOWN_IMAGE.test(problem) ? failures.image_unknown : failures.pull_failed
        throw failure({ runtime, image: reference, problem }, { cause: error })
      }
    },

    async build({ tag, context, dockerfile, labels, passing, network }, { signal, report } = {}) {
      extras ??= dialect.buildExtras(hasPlugin)
      const isJoining = network !== undefined && network !== 'none'
      const { args, env } = isJoining ? dialect.joiningExtras : await extras
      const output = collect(report)
      try {
        const attempt = () =>
          withNamelessFile(dockerfile, ({ fd }) =>
            cli.run(
              [
                'build',
                `--tag=${tag}`,
                ...Object.entries(labels).map(([key, value]) => `--label=${key}=${value}`),
                ...args,
                ...(network === undefined ? [] : networkArguments(network)),
                '--file=-',
                '--',
                context,
              ],
              { doing: `build "${tag}"`, image: tag },
              { timeoutMs: NO_LIMIT, signal, env, stdin: fd, onLine: output.add },
            ),
          )
        await attempt().catch(error => {
          if (!LOST_CACHE.test(output.end(BUILD_LINES))) throw error
          return attempt()
        })
      } catch (error) {
        if (!isFailure(error) || error.code === 'runtime_unavailable') throw error
        const problem = output.end(BUILD_LINES) || error.message
        const host = unreachableHost(problem)
        const doing = `fetch the base image of "${tag}"`
        if (host) throw failures.image_registry_unreachable({ runtime, doing, host }, { cause: error })
        throw failures.build_failed({ runtime, image: tag, problem }, { cause: error })
      } finally {
        if (passing !== undefined) await forget(passing, report)
      }
    },

    async remove(reference) {
      try {
        await cli.run(['image', 'rm', '--', reference], { doing: `remove "${reference}"`, image: reference })
      } catch (error) {
        if (isFailure(error, 'image_missing')) return
        if (isFailure(error, 'runtime_failed') && /in use|is using|being used/i.test(error.message)) {
          throw failures.image_in_use({ runtime, image: reference }, { cause: error })
        }
        throw error
      }
    },
  }
}

/** Undefined for what may not be a reference: the program says what is wrong with it. */
const inspectRequest = (image: string): ApiRequest | undefined =>
  parseOciReference(image) && {
    method: 'GET',
    path: `/images/${encodeURIComponent(image)}/json`,
    print: body => `[${body}]`,
  }

/** Passes lines on as they arrive and keeps the last ones for a failure. */
function collect(report: Report | undefined) {
  const lines: string[] = []
  return {
    add(line: string) {
      if (
        !line.trim() ||
        /^DEPRECATED: |^\s+(?:Install the buildx|https:\/\/docs\.docker\.com\/go\/buildx)/.test(line)
      )
        return
      lines.push(line)
      if (lines.length > BUILD_LINES) lines.shift()
      report?.(redact(line), 'detail')
    },
    end: (count: number) => lastWords(lines.join('\n'), count),
  }
}
