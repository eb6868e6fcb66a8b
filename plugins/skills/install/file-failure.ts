import { failures as core, Failure } from '../../../src/errors.ts'

/** Turns an error of the file system into a failure, so that it is not shown as a defect. */
export function toFileFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || !('syscall' in error)) return error
  const path = 'path' in error ? String(error.path) : 'A file'
  const problem = 'code' in error ? String(error.code) : error.message
  return core.file_unwritable({ path, problem }, { cause: error })
}
