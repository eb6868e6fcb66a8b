import { X509Certificate } from 'node:crypto'
import { readUserFile } from '../../src/user-file.ts'
import { failures } from './failures.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Fails unless the file holds certificates, each of them readable. */
export async function assertCertificates(path: string): Promise<void> {
  const text = await readUserFile(path, 'The certificate file')
  const blocks = text.match(BLOCK) ?? []
  if (!blocks.length) throw failures.ca_cert_invalid({ path, problem: 'it holds no certificate' })
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block)
    } catch (error) {
      throw failures.ca_cert_invalid(
        { path, problem: `certificate ${index + 1} cannot be read` },
        { cause: error },
      )
    }
  }
}
