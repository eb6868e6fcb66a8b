import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The path of the program that this name would run, or undefined. */
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
