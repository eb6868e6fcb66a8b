import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Evidence, SignerFacts, TestSigstore } from '../../support/sigstore.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import type { Repository } from './git-repository.ts'

/** A detached CMS signature with a certificate of the test's Sigstore, made by openssl. */
export async function signDetached(
  sigstore: TestSigstore,
  content: Buffer,
  signer: SignerFacts,
  evidence?: Evidence,
  args: readonly string[] = [],
): Promise<Buffer> {
  const folder = await temporaryFolder()
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = await sigstore.certify(publicKey, signer, evidence)
  const paths = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const lines = certificate.match(/.{1,64}/g)?.join('\n')
  await writeFile(paths.certificate, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`)
  await writeFile(paths.key, privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const command = ['cms', '-sign', '-binary', '-md', 'sha256', '-outform', 'DER', '-nosmimecap']
  return execFileSync('openssl', [...command, '-signer', paths.certificate, '-inkey', paths.key, ...args], {
    input: content,
  })
}

/** Puts a signature into the newest commit of `main`, as gitsign does; answers the commit that has it. */
export async function addSignature(
  repository: Repository,
  make: (content: Buffer) => Promise<Buffer | string> | Buffer | string,
): Promise<string> {
  const content = Buffer.from(`${await repository.git(['cat-file', 'commit', 'main'])}\n`)
  const made = await make(content)
  const armoured =
    typeof made === 'string'
      ? made
      : `-----BEGIN SIGNED MESSAGE-----\n${made
          .toString('base64')
          .match(/.{1,64}/g)
          ?.join('\n')}\n-----END SIGNED MESSAGE-----`
  const text = content.toString('utf8')
  const headersEnd = text.indexOf('\n\n') + 1
  const header = `gpgsig ${armoured.split('\n').join('\n ')}\n`
  const signed = `${text.slice(0, headersEnd)}${header}${text.slice(headersEnd)}`
  const commit = await repository.git(['hash-object', '-w', '-t', 'commit', '--stdin'], signed)
  await repository.point('refs/heads/main', commit)
  return commit
}
