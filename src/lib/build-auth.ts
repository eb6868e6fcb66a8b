/** Files with logins that package tools read in the home folder, each with a dot in front. */
export const BUILD_AUTH_FILES = ['npmrc', 'netrc', 'yarnrc'] as const

export type BuildAuthFile = (typeof BUILD_AUTH_FILES)[number]

export const isBuildAuthFile = (name: string): name is BuildAuthFile =>
  (BUILD_AUTH_FILES as readonly string[]).includes(name)

const VALUES: Readonly<Record<BuildAuthFile, RegExp>> = {
  npmrc: /(?:_authToken|_auth|_password)\s*=\s*["']?([^"'\s]+)/g,
  netrc: /(?:^|\s)password\s+["']?([^"'\s]+)/g,
  yarnrc: /(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent)["']?\s*[:\s]\s*["']?([^"'\s]+)/g,
}

/** The passwords and tokens in such a file. */
export const secretsOfBuildAuth = (name: BuildAuthFile, content: string): string[] =>
  [...content.matchAll(VALUES[name])].flatMap(match => match[1] ?? [])
