import { join } from 'node:path'
import type { Plugin } from '../../src/plugin.ts'
import { Build } from './commands/build.ts'
import { recipeSection } from './section.ts'
import type { Recipes } from './service.ts'

export { atVersion, parsePackageArgument } from './package-argument.ts'
export type { Plan } from './plan-package.ts'
export type { RecipeOptions } from './recipe.ts'
export type { Recipes } from './service.ts'

/** Turns npx://, uvx:// and go:// packages into container images. */
const recipes: Plugin = {
  name: 'recipes',
  needs: ['runtimes'],
  uses: ['egress', 'runtimes'],
  wants: ['secrets', 'settings'],
  commands: [Build],
  provides: { sections: [recipeSection] },
  services: {
    recipes: async app => {
      const [{ createRecipes }, { createBuildSettings }, { createBuildNetworks }] = await Promise.all([
        import('./service.ts'),
        import('./build-settings.ts'),
        import('./build-network.ts'),
      ])
      return createRecipes({
        folder: join(app.paths.cache, 'recipes'),
        settings: createBuildSettings(app),
        networks: createBuildNetworks({ egress: () => app.service('egress'), log: app.log }),
      })
    },
  },
}
export default recipes

declare module '../../src/plugin.ts' {
  interface Services {
    recipes: Recipes
  }
}
