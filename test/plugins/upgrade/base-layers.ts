import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { execa } from 'execa'

/** Where `test/support/engines/setup.sh` keeps what is made once on a machine. */
const STATE = process.env.KEELSON_TEST_STATE ?? '/var/tmp/keelson-test'
/** Blobs from this size on are layers of the base image, in bytes. */
const LARGE = 1024 * 1024

/**
 * The layers of an image as a registry stores them, kept from one registry to the next: docker does not push
 * what a repository has, and compressing a base image takes it twenty seconds of a processor.
 */
export async function baseLayers(image: string) {
  const { stdout } = await execa('docker', ['image', 'inspect', '--format={{.Id}}', image])
  const kept = join(STATE, `layers-${stdout.replace('sha256:', '')}`)
  return {
    /** Puts what is kept into the storage of a registry, for one repository. */
    async putInto(storage: string, repository: string): Promise<void> {
      for (const digest of await readdir(kept).catch(() => [])) {
        const blob = join(blobsOf(storage), digest.slice(0, 2), digest, 'data')
        const layer = join(storage, 'docker/registry/v2/repositories', repository, '_layers/sha256', digest)
        await mkdir(dirname(blob), { recursive: true })
        await mkdir(layer, { recursive: true })
        await copyFile(join(kept, digest), blob)
        await writeFile(join(layer, 'link'), `sha256:${digest}`)
      }
    },
    /** Keeps what was pushed into that storage, unless something is kept or this user may not write there. */
    async takeFrom(storage: string): Promise<void> {
      if ((await readdir(kept).catch(() => [])).length > 0) return
      const making = `${kept}.${process.pid}`
      const mayWrite = await mkdir(making, { recursive: true }).catch(() => undefined)
      if (mayWrite === undefined) return
      const blobs = await readdir(blobsOf(storage), { recursive: true })
      for (const path of blobs.filter(path => path.endsWith('/data'))) {
        const blob = join(blobsOf(storage), path)
        if ((await stat(blob)).size >= LARGE) await copyFile(blob, join(making, basename(dirname(blob))))
      }
      await rename(making, kept).catch(() => rm(making, { recursive: true })) // another test was faster
    },
  }
}

const blobsOf = (storage: string): string => join(storage, 'docker/registry/v2/blobs/sha256')
