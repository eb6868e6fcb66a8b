import { programText } from '../../src/lib/program-text.ts'
import { PUBLIC_PYPI } from '../../src/lib/public-registries.ts'
import { SCRIPTS_LINE, VERSION_LINE } from './recipe.ts'

/** The text of a program that a build of an image runs. */
export const recipeProgram = (file: string, values: Readonly<Record<string, string>> = {}): string =>
  programText(`plugins/recipes/programs/${file}`, { PUBLIC_PYPI, SCRIPTS_LINE, VERSION_LINE, ...values })
