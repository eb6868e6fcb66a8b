import { isAbsolute, resolve } from 'node:path'
import type { App } from '../../../src/app.ts'
import type { PackageRequest, Scheme } from '../../../src/contracts/runtime.ts'
import type { Target } from '../../../src/contracts/target.ts'

const FORM = /^(npx|uvx|go):\/\/(.+)$/s

/** `npx://`, `uvx://`, `go://`: a package, built into an image or installed on the host. */
export const schemeTarget = (app: App): Target => ({
  kind: 'scheme',
  accepts: argument => /^(npx|uvx|go):\/\//.test(argument),

  defaultName: argument =>
    (FORM.exec(argument)?.[2] ?? argument)
      .replace(/^(\.{1,2}\/)+/, '')
      .replace(/(?<=.)@[^/@]*$/, '')
      .replace(/[/@.]/g, '-')
      .replace(/^-+|-+$/g, '')
      .replace(/[^A-Za-z0-9_-]+/g, '-') || 'workload',

  async resolve(argument, context) {
    const { flags } = context
    const request = toRequest(argument, (flags['build-with'] as readonly string[] | undefined) ?? [])
    const runtime = await context.runtime()
    const builder = flags['runtime-image'] as string | undefined
    const packages = (flags['runtime-add-package'] as readonly string[] | undefined) ?? []
    const wait = { signal: context.signal, report: context.report }
    const runtime_config = {
      ...(builder ? { builder_image: builder } : {}),
      ...(packages.length ? { additional_packages: [...packages] } : {}),
      ...(request.buildWith.length ? { build_with: [...request.buildWith] } : {}),
    }
    const { image } = runtime.packages
      ? await runtime.packages.install(request, wait)
      : await (await app.service('recipes')).build(request, { runtime, ...buildOptions(flags) }, wait)
    return {
      source: argument,
      image,
      transport: (flags.transport as 'stdio' | undefined) ?? 'stdio',
      ...(Object.keys(runtime_config).length ? { runtime_config } : {}),
    }
  },
})

const buildOptions = (_flags: unknown) => ({})

export function toRequest(argument: string, buildWith: readonly string[]): PackageRequest {
  const [, scheme, text = ''] = FORM.exec(argument) ?? []
  const local =
    scheme === 'go' && (/^\.{0,2}\//.test(text) || text === '.' || text === '..' || isAbsolute(text))
  return { scheme: scheme as Scheme, package: local ? resolve(text) : text, local, buildWith }
}
