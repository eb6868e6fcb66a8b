/** A value for each flag of `run`, as it is read and as it is written; a folder of the test's holds the files. */
export const flagSamples = (
  folder: string,
): Readonly<Record<string, { value: unknown; written: string[] }>> => {
  const text = (flag: string, value: string) => ({ value, written: [`--${flag}`, value] })
  const list = (flag: string, value: string) => ({ value: [value], written: [`--${flag}`, value] })
  const on = (flag: string) => ({ value: true, written: [`--${flag}`] })
  const off = (flag: string) => ({ value: false, written: [`--no-${flag}`] })
  return {
    name: text('name', 'other'),
    group: text('group', 'some'),
    label: list('label', 'team=a'),
    foreground: on('foreground'),
    'from-config': text('from-config', `${folder}/config.json`),
    transport: text('transport', 'sse'),
    host: text('host', '127.0.0.2'),
    'proxy-port': { value: 4567, written: ['--proxy-port', '4567'] },
    'allowed-origins': list('allowed-origins', 'https://a.example'),
    'session-ttl': { value: 60_000, written: ['--session-ttl', '1m'] },
    'trust-proxy-headers': on('trust-proxy-headers'),
    stateless: on('stateless'),
    'proxy-mode': text('proxy-mode', 'sse'),
    'endpoint-prefix': text('endpoint-prefix', '/a'),
    'target-host': text('target-host', '127.0.0.1'),
    'target-port': { value: 8000, written: ['--target-port', '8000'] },
    runtime: text('runtime', 'process'),
    env: list('env', 'A=1'),
    'env-file': text('env-file', `${folder}/file.env`),
    'env-file-dir': text('env-file-dir', `${folder}/vars`),
    secret: list('secret', 'NAME,target=TOKEN'),
    volume: list('volume', `${folder}:/data`),
    publish: list('publish', '9000'),
    network: text('network', 'none'),
    memory: text('memory', '64m'),
    cpus: text('cpus', '0.5'),
    'permission-profile': text('permission-profile', 'none'),
    'isolate-network': off('isolate-network'),
    'allow-docker-gateway': on('allow-docker-gateway'),
    'ignore-globally': off('ignore-globally'),
    'print-resolved-overlays': on('print-resolved-overlays'),
    'accept-permissions': on('accept-permissions'),
    'no-sandbox': on('no-sandbox'),
    'allow-build-network': on('allow-build-network'),
    'image-verification': text('image-verification', 'enabled'),
    'build-with': list('build-with', 'mcp<2'),
    'ca-cert': text('ca-cert', `${folder}/file.env`),
    'runtime-image': text('runtime-image', 'example/base'),
    'runtime-add-package': list('runtime-add-package', 'git'),
    'allow-build-host': list('allow-build-host', 'github.com'),
  }
}
