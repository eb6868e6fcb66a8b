import { execa } from 'execa'
import { bundleArguments } from '../../../plugins/egress/helper/bundle-helper.ts'

const repository = new URL('../../..', import.meta.url).pathname
const PORT = 8080

/** A container beside the workloads of an engine: the one place that they may reach, and their name server. */
export interface Outside {
  readonly host: string
  readonly port: number
  setNames(names: Readonly<Record<string, readonly (readonly string[])[]>>): Promise<void>
  /** Requests and look-ups since `forget`. */
  told(): Promise<{ seen: string[]; asked: string[] }>
  forget(): Promise<void>
  /** The program for helpers that asks the container for names. */
  program(): Promise<string>
  close(): Promise<void>
}

export async function startOutside(engine: {
  program: string
  env: Readonly<Record<string, string | undefined>>
  network: string
}): Promise<Outside> {
  const { program, env, network } = engine
  const run = async (...args: string[]) =>
    (await execa(program, args, { env: { ...env }, extendEnv: false, stdin: 'ignore' })).stdout
  const id = await run(
    ...['run', '--detach', `--network=${network}`, `--volume=${repository}fixtures/isolation:/srv:ro`],
    ...['keelson-test/node:24', 'node', '/srv/outside.mjs'],
  )
  const host = (
    await run('inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', id)
  ).trim()
  const ask = (path: string, body = '') =>
    run(
      ...['exec', '--env', `BODY=${body}`, id, 'node', '-e'],
      `const go = left => fetch('http://127.0.0.1:${PORT}/-/${path}', { method: 'POST', body: process.env.BODY })
        .then(it => it.text()).then(console.log, error => left ? setTimeout(go, 100, left - 1) : Promise.reject(error))
      go(50)`,
    )
  return {
    host,
    port: PORT,
    setNames: async names => void (await ask('names', JSON.stringify(names))),
    told: async () => JSON.parse(await ask('seen')),
    forget: async () => void (await ask('forget')),
    async program() {
      const entry = new URL('helper-program.ts', import.meta.url).pathname
      const args = [...bundleArguments(entry), `--define:NAME_SERVER=${JSON.stringify(host)}`]
      return (await execa('esbuild', args, { preferLocal: true, localDir: repository })).stdout
    },
    close: async () =>
      void (await run('rm', '--force', '--volumes', ...(program === 'podman' ? ['--time=0'] : []), id)),
  }
}
