import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Puts a shell script of that name first in the PATH of the environment it answers. Goes with the test. */
export async function fakeProgram(name: string, script: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-program-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, name)
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return { PATH: `${folder}${delimiter}/usr/bin${delimiter}/bin`, HOME: folder }
}

/** A script that says these words on standard error and fails, whatever it is asked. */
export const saying = (words: string, code = 1): string => `cat >&2 <<'WORDS'\n${words}\nWORDS\nexit ${code}`
