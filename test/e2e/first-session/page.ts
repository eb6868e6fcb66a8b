import type { Chapter } from './chapters.ts'

const HEAD = `# A first session

This is a recording of a terminal with 80 columns: what a new user types, and all that is shown. It was made on a machine
with bubblewrap, without docker. \`KEELSON_WRITE_SESSION=1 npx vitest run test/e2e/first-session.test.ts\` records it anew.
[Your first server](first-server.md) explains the commands.

## Install

\`\`\`sh example
git clone https://github.com/OWNER/keelson
cd keelson
npm ci
npm pack
npm install -g ./keelson-*.tgz
\`\`\`
`

/** The page of a recorded session; `screens` holds the commands of each chapter with what they show. */
export const toPage = (chapters: readonly Chapter[], screens: readonly (readonly string[])[]): string =>
  [
    HEAD,
    ...chapters.map(
      ({ title, text }, i) =>
        `## ${title}\n\n${text}\n\n\`\`\`console example\n${(screens[i] ?? []).join('')}\`\`\`\n`,
    ),
  ].join('\n')

/**
 * What is the same in two recordings, by command: without numbers (ports, times), lines of finished progress, which only
 * slow commands show, and what depends on the width of a number or of the home's path: cut cells and breaks of lines.
 */
export const toShape = (page: string): string[] =>
  page
    .replace(/^✓ .*\n/gm, '')
    .split(/^(?=\$ )/m)
    .map(part =>
      part
        .replace(/\S*\.\.\.\S*/g, '...')
        .replace(/\d+[smhd]?/g, 'N')
        .replace(/\s+/g, ' '),
    )
