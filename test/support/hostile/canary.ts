import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'

/** A folder in which everything lands that code of strangers manages to do. */
export interface Canary {
  readonly folder: string
  /** A shell command that leaves a trace. */
  readonly shell: string
  /** The same as Python. */
  readonly python: string
  /** Fails when anything has left a trace. */
  expectUntouched(): Promise<void>
}

/** Makes a canary that anybody on this machine could write to. */
export async function makeCanary(parent: string): Promise<Canary> {
  const folder = join(parent, 'canary')
  await mkdir(folder)
  await chmod(folder, 0o777)
  return {
    folder,
    shell: `echo ran > ${folder}/ran`,
    python: `open(${JSON.stringify(`${folder}/ran`)}, 'w').write('ran')`,
    expectUntouched: async () => expect(await readdir(folder)).toEqual([]),
  }
}

/** Puts a program first in a PATH that notes its environment in a file and becomes the real one. */
export async function recordEnvironment(
  folder: string,
  program: string,
  { real, path }: { real: string; path: string },
): Promise<{ PATH: string; file: string }> {
  const bin = join(folder, `bin-${program}`)
  const file = join(folder, `${program}.env`)
  await mkdir(bin)
  await writeFile(join(bin, program), `#!/bin/sh\nenv >> ${file}\nexec ${real} "$@"\n`)
  await chmod(join(bin, program), 0o755)
  return { PATH: `${bin}:${path}`, file }
}
