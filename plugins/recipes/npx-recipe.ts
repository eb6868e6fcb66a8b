import { toRecipe } from './phases.ts'
import type { CheckedOptions, Pinned, Recipe } from './recipe.ts'
import { recipeProgram } from './recipe-program.ts'
import { run } from './stages.ts'

const IMAGE = 'node:24-alpine'
const WANTS = ['git', 'ca-certificates']
const PLAIN = [
  // npm shows the name in its error: packages come from registries, not from repositories.
  '--git=git-dependencies-are-refused',
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--cache=/fetched/cache'],
]

/** An npm package, fetched without its scripts and started directly: no network at the start. */
export function npxRecipe({ reference, version }: Pinned, options: CheckedOptions): Recipe {
  const { name, wanted } = reference
  const image = options.image ?? IMAGE
  const manifest = {
    name: 'workload',
    private: true,
    dependencies: { [name]: version ?? wanted ?? 'latest' },
  }
  const offline = options.allowNetwork ? '--prefer-offline' : '--offline'
  return toRecipe(
    {
      fetch: {
        image,
        wants: WANTS,
        folder: '/fetched',
        steps: [
          'WORKDIR /fetched/app',
          'COPY package.json check-lock.cjs fetch.sh /keelson/',
          run('/bin/sh', '/keelson/fetch.sh', name, '--omit=dev', '--ignore-scripts', ...PLAIN),
        ],
        files: new Map([
          ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
          ['check-lock.cjs', recipeProgram('check-lock.cjs')],
          ['fetch.sh', recipeProgram('fetch_npm.sh')],
        ]),
      },
      build: {
        steps: [
          'COPY run-scripts.cjs link-entry.cjs install.sh /keelson/',
          run('/bin/sh', '/keelson/install.sh', name, '--omit=dev', offline, ...PLAIN),
        ],
        files: new Map([
          ['run-scripts.cjs', recipeProgram('run-scripts.cjs')],
          ['link-entry.cjs', recipeProgram('link-entry.cjs')],
          ['install.sh', recipeProgram('install_npm.sh')],
        ]),
      },
      runtime: { image, wants: WANTS, env: ['NODE_ENV=production'] },
    },
    options,
  )
}
