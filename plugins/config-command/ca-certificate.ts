import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { failures as core } from '../../src/errors.ts'
import { isMissing } from '../../src/lib/atomic-file.ts'
import { failures } from './failures.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Fails unless the file holds certificates, each of them readable. */
export async function assertCertificates(path: string): Promise<void> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) throw core.file_missing({ what: 'The certificate file', path }, { cause: error })
    const problem =
      error instanceof Error && 'code' in error ? `it cannot be read (${error.code})` : 'it cannot be read'
    throw failures.ca_cert_invalid({ path, problem }, { cause: error })
  }
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
