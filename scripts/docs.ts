/** `npm run docs`: writes the pages, and parts of pages, that are made from the code. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cliReference } from './docs/cli-reference.ts'
import { embedFiles } from './docs/embed-files.ts'
import { collectFailures, errorReference } from './docs/error-reference.ts'

writeFileSync('docs/errors.md', errorReference(await collectFailures()))
writeFileSync('docs/plugins.md', embedFiles(readFileSync('docs/plugins.md', 'utf8')))
writeFileSync('docs/cli.md', await cliReference())
