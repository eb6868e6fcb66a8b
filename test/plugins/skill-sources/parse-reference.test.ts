import { expect, test } from 'vitest'
import { parseGitReference, toGitText } from '../../../plugins/skill-sources/git/git-reference.ts'
import { parseSkillReference } from '../../../plugins/skill-sources/parse-reference.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const DIGEST = `sha256:${'a'.repeat(64)}`

test.each([
  ['git://github.com/acme/skills', { host: 'github.com', repository: 'acme/skills' }],
  ['git://GitHub.com/acme/skills/', { host: 'github.com', repository: 'acme/skills' }],
  [
    'git://github.com:8443/acme/skills@main',
    { host: 'github.com:8443', repository: 'acme/skills', ref: 'main' },
  ],
  [
    'git://gitlab.com/a/b/c.git@v1.0#x/y',
    { host: 'gitlab.com', repository: 'a/b/c.git', ref: 'v1.0', path: 'x/y' },
  ],
  ['git://h.io/a/b@feature/x#./p//q/', { host: 'h.io', repository: 'a/b', ref: 'feature/x', path: 'p/q' }],
  [`git://h.io/a/b@${COMMIT}`, { host: 'h.io', repository: 'a/b', ref: COMMIT }],
  ['git://h.io/a/b#p@q', { host: 'h.io', repository: 'a/b', path: 'p@q' }],
  ['git://h.io/a/b#.', { host: 'h.io', repository: 'a/b' }],
  ['https://git.sr.ht/~who/skills', { host: 'git.sr.ht', repository: '~who/skills' }],
  ['http://h.io/a/b.git#p', { host: 'h.io', repository: 'a/b.git', path: 'p' }],
  ['git://[2001:DB8::1]:443/a/b', { host: '[2001:db8::1]', repository: 'a/b' }],
  ['git://127.1/a/b', { host: '127.0.0.1', repository: 'a/b' }],
])('%s is a repository', (text, git) => {
  expect(parseSkillReference(text)).toEqual({ kind: 'git', git })
  expect(parseGitReference(toGitText(git))).toEqual(git)
})

test.each([
  ['ghcr.io/acme/skill:1.0', 'ghcr.io/acme/skill:1.0', false],
  ['ghcr.io/acme/skill', 'ghcr.io/acme/skill:latest', false],
  ['localhost:5000/skill', 'localhost:5000/skill:latest', false],
  [`ghcr.io/acme/skill@${DIGEST}`, `ghcr.io/acme/skill@${DIGEST}`, false],
  [`ghcr.io/acme/skill:1@${DIGEST}`, `ghcr.io/acme/skill:1@${DIGEST}`, false],
  ['skill:1.0', 'docker.io/skill:1.0', false],
  ['acme/skill', 'docker.io/acme/skill:latest', true],
  ['io.github.acme/skill', 'io.github.acme/skill:latest', true],
  ['Acme/skill', undefined, true],
])('%s is the artifact %s', (text, artifact, qualified) => {
  expect(parseSkillReference(text)).toEqual({ kind: 'oci', artifact, qualified })
})

test('a version is the tag of a reference that has neither tag nor digest', () => {
  expect(parseSkillReference('ghcr.io/a/b', '2.0')).toMatchObject({ artifact: 'ghcr.io/a/b:2.0' })
  expect(parseSkillReference('ghcr.io/a/b:1.0', '2.0')).toMatchObject({ artifact: 'ghcr.io/a/b:1.0' })
  expect(parseSkillReference(`ghcr.io/a/b@${DIGEST}`, '2.0')).toMatchObject({
    artifact: `ghcr.io/a/b@${DIGEST}`,
  })
})

test('what has no punctuation of a reference is a name', () => {
  expect(parseSkillReference('skill-creator')).toEqual({ kind: 'name', name: 'skill-creator' })
})

test.each([
  '',
  ' ',
  'a b',
  'a\nb',
  'git://',
  'git://h.io',
  'git://h.io/a',
  'git:///a/b',
  'git://h.io//b',
  'git://h.io/a/..',
  'git://h.io/a/b@',
  'git://h.io/a/b@-x',
  'git://h.io/a/b@x..y',
  'git://h.io/a/b@x.lock',
  'git://h.io/a/b@x/',
  'git://h.io/a/b@x y',
  'git://h.io/a/b@x~1',
  'git://h.io/a/b@x^',
  'git://h.io/a/b@x:y',
  'git://h.io/-a/b',
  'git://h.io/a/b?x=y',
  'git://h.io/a/b#../c',
  'git://h.io/a/b#/c',
  'git://h.io/a/b#c\\d',
  'git://h.io/a/b#.git/hooks',
  'git://h.io/a/b#c/.GIT',
  'git://h_.io/a/b',
  'git://-h.io/a/b',
  'git://h.io:99999/a/b',
  'git://h.io:x/a/b',
  `git://h.io/a/${'b'.repeat(600)}`,
  'file:///etc/passwd',
  'ssh://git@h.io/a/b',
  'ext::sh -c id',
  'ext::sh',
  'ftp://h.io/a/b',
  'oci://h.io/a',
  'git@github.com:a/b.git',
  'h.io/a:b:c',
  'h.io/A/b',
  'h.io/a@sha256:1',
  '../a',
  '/a/b',
  'a/b/../c',
  './a',
  '@',
  ':',
  '/',
])('%j is refused as a reference', text => {
  expect(() => parseSkillReference(text)).toThrow(
    expect.objectContaining({ code: 'skill_reference_invalid', status: 400, hint: expect.any(String) }),
  )
})

test.each([
  'git://user:hunter22@h.io/a/b',
  'https://hunter22@github.com/a/b.git',
  'https://user:hunter22@github.com/a/b@main#x',
])('%s is refused, and its password is not repeated', text => {
  expect(() => parseSkillReference(text)).toThrow(
    expect.objectContaining({
      code: 'skill_reference_invalid',
      message: expect.not.stringContaining('hunter22'),
    }),
  )
})
