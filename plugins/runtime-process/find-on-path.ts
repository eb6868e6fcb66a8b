import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Where a program lies that would be run by this name, or undefined. */
export async function findOnPath(program: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, program)
    if (await isExecutable(file)) return file
  }
  return undefined
}

export const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
