import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Recipe } from '../../../plugins/recipes/recipe.ts'
import type { ImageBuild, ImageStore } from '../../../src/contracts/runtime.ts'

/** The files of all builds of a recipe, by their names. */
export const filesOf = ({ builds }: Recipe): ReadonlyMap<string, string> =>
  new Map(builds.flatMap(({ files }) => [...files]))

/** An engine's images, in memory; keeps what each build was given, in `made` those of images that stay. */
export function fakeImages(options: { lines?: readonly string[]; fail?: string; failsAt?: number } = {}) {
  const labels = new Map<string, Readonly<Record<string, string>>>()
  const builds: (ImageBuild & { files: Record<string, string> })[] = []
  const images: ImageStore = {
    has: async reference => labels.has(reference),
    labels: async reference => labels.get(reference),
    pull: async () => undefined,
    remove: async reference => void labels.delete(reference),
    async build(build, { report } = {}) {
      const names = await readdir(build.context, { recursive: true, withFileTypes: true })
      const files = names
        .filter(entry => entry.isFile())
        .map(async entry => {
          const path = join(entry.parentPath, entry.name)
          return [path.slice(build.context.length + 1), await readFile(path, 'utf8')] as const
        })
      builds.push({ ...build, files: Object.fromEntries(await Promise.all(files)) })
      for (const line of options.lines ?? []) report?.(line)
      if (options.fail && builds.length > (options.failsAt ?? 0)) throw new Error(options.fail)
      labels.set(build.tag, build.labels)
    },
  }
  return {
    runtime: { name: 'fake', images },
    builds,
    get made() {
      return builds.filter(({ labels }) => 'keelson-recipe' in labels)
    },
    /** The images that are there now. */
    tags: () => [...labels.keys()],
  }
}
