import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../src/errors.ts'
import { inScratchFolder } from '../../../src/lib/scratch-folder.ts'
import { failures } from '../failures.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The text as the user's editor has left it: VISUAL, EDITOR, or vi. Fails with `editor_failed`. */
export async function editText(text: string, { env, file }: { env: Env; file: string }): Promise<string> {
  const editor = env.VISUAL || env.EDITOR || 'vi'
  return inScratchFolder(async folder => {
    const path = join(folder, file)
    await writeFile(path, text, { mode: 0o600 })
    try {
      // The variable may hold arguments, as git reads it.
      const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit', env: { ...env } })
      const [code] = await once(child, 'exit')
      if (code !== 0) throw failures.editor_failed({ editor, problem: `it ended with ${code}.` })
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
        throw failures.editor_failed({ editor, problem: messageOf(error) }, { cause: error })
      throw error
    }
    return readFile(path, 'utf8')
  })
}
