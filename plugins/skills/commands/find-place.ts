import { resolve } from 'node:path'
import type { PlaceRequest, Skills } from '../service.ts'

/** Returns the place that the flags name. The default project is the one that holds the working folder. */
export async function findPlace(
  skills: Pick<Skills, 'projectOf'>,
  said: { scope: string | undefined; 'project-root': string | undefined },
): Promise<PlaceRequest> {
  const { scope, 'project-root': root } = said
  if (root !== undefined) return { scope, projectRoot: resolve(root) }
  if (scope !== 'project') return { scope }
  return { scope, projectRoot: await skills.projectOf(process.cwd()) }
}
