import type { Result } from './result.ts'
import { runOf } from './run-image.ts'

export const run = (): Promise<Result> => runOf('podman')
