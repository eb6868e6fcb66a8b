/** Stores `count` secrets named after this writer in an encrypted file; says `ready` first. */
import { createEncryptedFile } from '../../../plugins/secrets/encrypted-file.ts'

const [path = '', writer = '', count = '0'] = process.argv.slice(2)
const file = createEncryptedFile({
  path,
  secret: async () => 'correct horse',
  cost: { log2N: 10, r: 8, p: 1 },
})
process.stdout.write('ready\n')
for (let i = 0; i < Number(count); i++) {
  await file.change(secrets => void secrets.set(`${writer}_${i}`, 'x'.repeat(500)))
}
