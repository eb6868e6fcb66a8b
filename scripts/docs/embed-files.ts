import { readFileSync } from 'node:fs'
import { extname } from 'node:path'

/** Puts the files that a page names in comments (`<!-- file: PATH -->`) into the code blocks below them. */
export const embedFiles = (page: string): string =>
  page.replace(
    /(<!-- file: (\S+) -->\n)```\w*\n.*?\n```\n/gs,
    (_, comment: string, path: string) =>
      `${comment}\`\`\`${extname(path).slice(1)}\n${readFileSync(path, 'utf8').trimEnd()}\n\`\`\`\n`,
  )
