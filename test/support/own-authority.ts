import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './temporary-folder.ts'

/** A certificate for localhost that no system trusts, and servers that have it. They end with the test. */
export async function ownAuthority(): Promise<{
  /** PEM. */
  readonly ca: string
  readonly path: string
  /** Returns the origin. */
  listen(listener: RequestListener): Promise<string>
}> {
  const folder = await temporaryFolder()
  const [key, path] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', path, ...subject], { stdio: 'ignore' })
  const ca = await readFile(path, 'utf8')
  return {
    ca,
    path,
    async listen(listener) {
      const server = createServer({ key: await readFile(key), cert: ca }, listener)
      server.listen(0, 'localhost')
      await once(server, 'listening')
      onTestFinished(() => {
        server.close()
        server.closeAllConnections()
      })
      return `https://localhost:${(server.address() as AddressInfo).port}`
    },
  }
}
