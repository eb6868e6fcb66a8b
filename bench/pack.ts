import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Result } from './result.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const ROUNDS = 3
/** Half of what two dependencies and the tarball took before they were first measured, on 2026-11-23. */
const GOALS = { tarball: 1.8, unpacked: 6.3, files: 92 }

/** What `npm install` gets and leaves on the disk, from the tarball, into an empty prefix with an empty cache of npm. */
export async function run(): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  try {
    const npm = (...args: string[]) => execFileSync('npm', args, { cwd: repository, encoding: 'utf8' })
    const [tarball = ''] = npm('pack', '--ignore-scripts', '--silent', '--pack-destination', folder).split(
      '\n',
    )
    const path = join(folder, tarball)
    const seconds: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const at = (name: string) => join(folder, `${name}${round}`)
      const before = performance.now()
      npm('install', '--global', '--silent', '--prefix', at('prefix'), '--cache', at('cache'), path)
      seconds.push((performance.now() - before) / 1000)
    }
    const files = readdirSync(join(folder, 'prefix0'), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => statSync(join(entry.parentPath, entry.name)).size)
    const figures = {
      tarball: statSync(path).size / 1e6,
      unpacked: files.reduce((sum, size) => sum + size, 0) / 1e6,
      files: files.length,
    }
    return {
      name: 'pack',
      conditions: 'the tarball of npm pack, installed into an empty prefix; caches of npm are empty',
      measured: ROUNDS,
      figures: {
        [`MB of the tarball (at most ${GOALS.tarball})`]: figures.tarball,
        [`MB on disk (at most ${GOALS.unpacked})`]: figures.unpacked,
        [`files on disk (at most ${GOALS.files})`]: figures.files,
        'seconds of an install, the quickest': Math.min(...seconds),
      },
      ok: Object.entries(GOALS).every(([what, goal]) => figures[what as keyof typeof GOALS] <= goal),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
