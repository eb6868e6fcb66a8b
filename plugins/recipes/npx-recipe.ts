import { toRecipe } from './phases.ts'
import type { CheckedOptions, Pinned, Recipe } from './recipe.ts'
import { recipeProgram } from './recipe-program.ts'
import { run } from './stages.ts'

const IMAGE = 'node:24-alpine'
const WANTS = ['git', 'ca-certificates']
const PLAIN = ['--no-audit', '--no-fund', '--no-update-notifier', '--cache=/fetched/cache']
// npm shows the name in its error: packages come from registries, not from repositories.
const WITHOUT_GIT = '--git=git-dependencies-are-refused'

/** An npm package, fetched without its scripts and started directly: no network at the start. */
export function npxRecipe({ reference, version }: Pinned, options: CheckedOptions): Recipe {
  const { name, wanted } = reference
  const image = options.image ?? IMAGE
  const manifest = {
    name: 'workload',
    private: true,
    dependencies: { [name]: version ?? wanted ?? 'latest' },
  }
  const fetch = ['--omit=dev', '--ignore-scripts', WITHOUT_GIT, ...PLAIN]
  return toRecipe(
    {
      fetch: {
        image,
        wants: WANTS,
        folder: '/fetched',
        steps: [
          'WORKDIR /fetched/app',
          'COPY package.json ./',
          run('npm', 'install', '--package-lock-only', ...fetch),
          'COPY check-lock.cjs /keelson/',
          run('node', '/keelson/check-lock.cjs', name),
          run('npm', 'ci', ...fetch),
        ],
        files: new Map([
          ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
          ['check-lock.cjs', recipeProgram('check-lock.cjs')],
        ]),
      },
      build: {
        steps: [
          'RUN mv /fetched/app /app',
          'WORKDIR /app',
          'COPY run-scripts.cjs link-entry.cjs /keelson/',
          run(
            ...['node', '/keelson/run-scripts.cjs', 'npm', 'ci', '--omit=dev', '--foreground-scripts'],
            ...[options.allowNetwork ? '--prefer-offline' : '--offline', WITHOUT_GIT, ...PLAIN],
          ),
          run('node', '/keelson/link-entry.cjs', name),
        ],
        files: new Map([
          ['run-scripts.cjs', recipeProgram('run-scripts.cjs')],
          ['link-entry.cjs', recipeProgram('link-entry.cjs')],
        ]),
      },
      runtime: { image, wants: WANTS, env: ['NODE_ENV=production'] },
    },
    options,
  )
}
