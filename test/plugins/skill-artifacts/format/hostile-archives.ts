import { gzipSync } from 'node:zlib'
import { END, extended, good, member, SKILL, tar } from './archive.ts'

/** An archive that must be refused, and what of the reason is told. */
interface Hostile {
  readonly what: string
  readonly bytes: Buffer
  readonly says: RegExp
  /** The bytes are packed already, or are not meant to be. */
  readonly packed?: true
}

const withFile = (path: string | Buffer): Buffer => tar(good, member({ path, content: 'x' }))
const withExtended = (records: Record<string, string | Buffer>, path = 'a'): Buffer =>
  tar(good, extended(records), member({ path, content: 'x' }))
const withLongName = (path: string | Buffer): Buffer =>
  tar(good, member({ path: '././@LongLink', type: 'L', content: path }), member({ path: 'a', content: 'x' }))
const raw = (content: string): Buffer => member({ path: 'PaxHeaders/x', type: 'x', content })
const packed = gzipSync(tar(good))
const folder = (path: string) => member({ path, type: '5' })
const MIB = 1024 * 1024

const paths: readonly Hostile[] = [
  { what: 'a path that leads out', bytes: withFile('../evil'), says: /part "\.\."/ },
  { what: 'a path that leads out from inside', bytes: withFile('a/../../evil'), says: /part "\.\."/ },
  { what: 'a path that ends in ..', bytes: withFile('a/..'), says: /part "\.\."/ },
  { what: 'a path that leads out behind ./', bytes: withFile('./../evil'), says: /part "\.\."/ },
  { what: 'a folder that leads out', bytes: tar(good, folder('../evil/')), says: /part "\.\."/ },
  { what: 'an absolute path', bytes: withFile('/etc/cron.d/evil'), says: /absolute/ },
  { what: 'an absolute path behind two slashes', bytes: withFile('//evil/share'), says: /absolute/ },
  { what: 'an absolute folder', bytes: tar(good, folder('/')), says: /not allowed/ },
  { what: 'a path with a drive', bytes: withFile('C:/evil'), says: /absolute/ },
  { what: 'a path of a drive', bytes: withFile('c:evil'), says: /absolute/ },
  { what: 'a path of a Windows share', bytes: withFile('\\\\evil\\share'), says: /backslash/ },
  { what: 'a path that leads out on Windows', bytes: withFile('..\\evil'), says: /backslash/ },
  { what: 'an empty path', bytes: withFile(''), says: /empty/ },
  { what: 'a path with an empty part', bytes: withFile('a//b'), says: /empty/ },
  { what: 'a path with the part .', bytes: withFile('a/./b'), says: /part "\."/ },
  {
    what: 'a path that leads out by its prefix',
    bytes: tar(good, member({ path: 'evil', prefix: '..' })),
    says: /part "\.\."/,
  },
  {
    what: 'an absolute prefix',
    bytes: tar(good, member({ path: 'evil', prefix: '/etc' })),
    says: /absolute/,
  },
  { what: 'a name with a line feed', bytes: withFile('a\nb'), says: /control characters/ },
  { what: 'a name that steers the terminal', bytes: withFile('\x1b[2Jb'), says: /control characters/ },
  { what: 'a name written backwards', bytes: withFile('a\u202egnp.exe'), says: /invisible/ },
  { what: 'a name that is not UTF-8', bytes: withFile(Buffer.from([0x61, 0xff, 0xfe])), says: /UTF-8/ },
  { what: 'a name with a replacement character', bytes: withFile('a\ufffd'), says: /UTF-8/ },
  {
    what: 'a name that is too long',
    bytes: withExtended({ path: 'n'.repeat(300) }),
    says: /longer than 255/,
  },
  {
    what: 'a path that is too long',
    bytes: withExtended({ path: `${'abc/'.repeat(400)}a` }),
    says: /longer than 1024/,
  },
  { what: "a repository's hook", bytes: withFile('.git/hooks/post-checkout'), says: /git repository/ },
  { what: "a repository's configuration", bytes: withFile('sub/.GIT/config'), says: /git repository/ },
  { what: "a repository by Windows' short name", bytes: withFile('git~1/config'), says: /git repository/ },
  {
    what: 'a repository behind an invisible character',
    bytes: withFile('.g\u200cit/config'),
    says: /invisible/,
  },
]

const extendedHeaders: readonly Hostile[] = [
  { what: 'an extended path that leads out', bytes: withExtended({ path: '../evil' }), says: /part "\.\."/ },
  { what: 'an extended path that is absolute', bytes: withExtended({ path: '/evil' }), says: /absolute/ },
  { what: 'an extended path with a NUL', bytes: withExtended({ path: 'a\0/../evil' }), says: /NUL/ },
  {
    what: 'an extended path that is not UTF-8',
    bytes: withExtended({ path: Buffer.from([0xff]) }),
    says: /UTF-8/,
  },
  {
    what: 'an extended path with a line feed',
    bytes: withExtended({ path: 'a\n10 path=b' }),
    says: /control characters/,
  },
  {
    what: 'an extended path of names in another character set',
    bytes: withExtended({ path: 'a', hdrcharset: 'BINARY' }),
    says: /character set/,
  },
  { what: 'an extended link', bytes: withExtended({ linkpath: '/etc/passwd' }), says: /link/ },
  { what: 'two sizes of one file', bytes: withExtended({ size: '1024' }), says: /one size .* and another/ },
  { what: 'a sparse file', bytes: withExtended({ 'GNU.sparse.major': '1' }), says: /sparse/ },
  {
    what: 'a sparse file of the old kind',
    bytes: tar(good, member({ path: 'a', type: 'S' })),
    says: /sparse/,
  },
  {
    what: 'the same extended record twice',
    bytes: tar(good, raw('10 path=a\n10 path=b\n'), member({ path: 'c' })),
    says: /twice/,
  },
  {
    what: 'an extended record with a wrong length',
    bytes: tar(good, raw('99 path=a\n'), member({ path: 'c' })),
    says: /cannot be read/,
  },
  {
    what: 'an extended record without a key',
    bytes: tar(good, raw('5 =a\n'), member({ path: 'c' })),
    says: /cannot be read/,
  },
  {
    what: 'an extended record of nonsense',
    bytes: tar(good, raw('nonsense'), member({ path: 'c' })),
    says: /cannot be read/,
  },
  {
    what: 'two extended headers in a row',
    bytes: tar(good, extended({ path: 'a' }), extended({ path: 'b' }), member({})),
    says: /two extended headers/,
  },
  {
    what: 'an extended header and a long name',
    bytes: tar(extended({ path: 'a' }), member({ type: 'L', content: 'b' }), good),
    says: /two extended headers/,
  },
  {
    what: 'an extended header of nothing',
    bytes: tar(good, extended({ path: 'a' })),
    says: /no file follows/,
  },
  {
    what: 'an extended header that is too large',
    bytes: withExtended({ comment: 'x'.repeat(70_000) }),
    says: /too large/,
  },
  {
    what: 'one path for all files',
    bytes: tar(extended({ path: '../evil' }, 'g'), good),
    says: /all its files at once/,
  },
  {
    what: 'one size for all files',
    bytes: tar(extended({ size: '5' }, 'g'), good),
    says: /all its files at once/,
  },
  { what: 'a long name that leads out', bytes: withLongName('../evil\0'), says: /part "\.\."/ },
  { what: 'a long name with a NUL inside', bytes: withLongName('a\0../evil'), says: /NUL/ },
  {
    what: 'a long link name',
    bytes: tar(good, member({ type: 'K', content: '/etc/passwd' }), member({ path: 'a' })),
    says: /link/,
  },
]

const kinds: readonly Hostile[] = [
  ['1', 'a hard link'],
  ['2', 'a symbolic link'],
  ['3', 'a device'],
  ['4', 'a device'],
  ['6', 'a pipe'],
  ['Z', 'something other than a file'],
  ['D', 'something other than a file'],
].map(([type = '', words = '']) => ({
  what: `${words} (type ${type})`,
  bytes: tar(good, member({ path: 'a', type, link: '/etc/passwd' })),
  says: new RegExp(words),
}))

const twice: readonly Hostile[] = [
  { what: 'the same file twice', bytes: tar(good, good), says: /in it twice/ },
  {
    what: 'the same file twice, once with ./',
    bytes: tar(good, member({ path: './SKILL.md' })),
    says: /in it twice/,
  },
  { what: 'files that differ in case', bytes: withFile('skill.MD'), says: /same as "SKILL\.md"/ },
  {
    what: 'files that differ in composition',
    bytes: tar(good, member({ path: 'e\u0301' }), member({ path: '\u00e9' })),
    says: /same as/,
  },
  {
    what: 'folders that differ in case',
    bytes: tar(good, member({ path: 'Docs/a' }), member({ path: 'docs/b' })),
    says: /same as "Docs"/,
  },
  {
    what: 'a file where a folder is',
    bytes: tar(good, member({ path: 'a/b' }), member({ path: 'a' })),
    says: /in it twice|same as/,
  },
  {
    what: 'a folder where a file is',
    bytes: tar(good, member({ path: 'a' }), member({ path: 'a/b' })),
    says: /same as "a"/,
  },
]

const damaged: readonly Hostile[] = [
  { what: 'no gzip file', bytes: tar(good), says: /not a gzip file/, packed: true },
  { what: 'an empty file', bytes: Buffer.alloc(0), says: /too early|no gzip/, packed: true },
  { what: 'a cut gzip file', bytes: packed.subarray(0, -20), says: /too early/, packed: true },
  { what: 'a gzip file without its end', bytes: packed.subarray(0, -8), says: /too early/, packed: true },
  {
    what: 'a gzip file with a wrong checksum',
    bytes: Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)]),
    says: /damaged/,
    packed: true,
  },
  {
    what: 'garbage behind the gzip data',
    bytes: Buffer.concat([packed, Buffer.from('#!/bin/sh')]),
    says: /damaged/,
    packed: true,
  },
  {
    what: 'zeros behind the gzip data',
    bytes: Buffer.concat([packed, Buffer.alloc(100)]),
    says: /follow the packed data/,
    packed: true,
  },
  {
    what: 'a second archive behind the first',
    bytes: Buffer.concat([packed, packed]),
    says: /behind its end/,
    packed: true,
  },
  {
    what: 'an archive packed twice',
    bytes: gzipSync(packed),
    says: /too early|checksum|number/,
    packed: true,
  },
  { what: 'an archive without its end', bytes: good, says: /too early/ },
  {
    what: 'an archive that ends after one empty block',
    bytes: Buffer.concat([good, Buffer.alloc(512)]),
    says: /too early/,
  },
  { what: 'a cut file', bytes: tar(good).subarray(0, 530), says: /too early/ },
  { what: 'a cut header', bytes: tar(good).subarray(0, 300), says: /too early/ },
  { what: 'data behind the end', bytes: Buffer.concat([tar(good), good]), says: /behind its end/ },
  {
    what: 'a file behind one empty block',
    bytes: Buffer.concat([good, Buffer.alloc(512), good, END]),
    says: /behind its end/,
  },
  { what: 'nothing', bytes: END, says: /holds no files/ },
  { what: 'folders only', bytes: tar(folder('a/')), says: /holds no files/ },
  {
    what: 'a wrong checksum',
    bytes: tar(good, member({ path: 'a', checksum: '0000001\0' })),
    says: /checksum/,
  },
  { what: 'nonsense', bytes: Buffer.alloc(2048, 'nonsense '), says: /checksum|number/ },
  {
    what: 'a size that is no number',
    bytes: tar(good, member({ path: 'a', size: 'twelve bytes' })),
    says: /number/,
  },
  {
    what: 'a negative size',
    bytes: tar(good, member({ path: 'a', size: Buffer.alloc(12, 0xff) })),
    says: /impossible number/,
  },
  {
    what: 'a folder with content',
    bytes: tar(good, member({ path: 'a/', type: '5', content: 'x' })),
    says: /folder in it has content/,
  },
]

const large: readonly Hostile[] = [
  {
    what: 'a file that claims terabytes',
    bytes: tar(good, member({ path: 'a', size: Buffer.from('800000000000100000000000', 'hex') })),
    says: /larger than 100 MiB/,
  },
  {
    what: 'a file of 101 MiB',
    bytes: tar(good, member({ path: 'a', size: 101 * MIB })),
    says: /larger than 100 MiB/,
  },
  {
    what: 'zeros that unpack to a thousand times their size',
    bytes: tar(good, member({ path: 'a', content: Buffer.alloc(20 * MIB) })),
    says: /200 times/,
  },
  {
    what: 'zeros behind the end, for ever',
    bytes: Buffer.concat([tar(good), Buffer.alloc(20 * MIB)]),
    says: /200 times/,
  },
  {
    what: 'more than 1000 files',
    bytes: tar(...Array.from({ length: 1001 }, (_, i) => member({ path: `f${i}` }))),
    says: /more than 1000 files/,
  },
  {
    what: 'more than 4000 folders',
    bytes: tar(good, ...Array.from({ length: 4001 }, (_, i) => folder(`f${i}/`))),
    says: /too many folders/,
  },
]

/** Archives as nobody honest makes them. */
export const hostileArchives: readonly Hostile[] = [
  ...paths,
  ...extendedHeaders,
  ...kinds,
  ...twice,
  ...damaged,
  ...large,
  {
    what: 'a skill inside a link',
    bytes: tar(member({ path: 'a', type: '2', link: '/tmp' }), member({ path: 'a/b', content: SKILL })),
    says: /symbolic link/,
  },
]
