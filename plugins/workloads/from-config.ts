import type { App } from '../../src/app.ts'
import { parseRunConfig, type RunConfig } from '../../src/contracts/run-config.ts'
import { readGivenFile } from '../../src/given-file.ts'
import { failures } from './failures.ts'

const COMPANIONS = new Set(['from-config', 'foreground', 'runtime', 'ca-cert', 'debug'])

/** Reads the file of `--from-config`, all of it checked; nothing is merged into it. */
export async function configFromFile(app: App, path: string, given: ReadonlySet<string>): Promise<RunConfig> {
  const others = [...given].filter(name => !COMPANIONS.has(name))
  if (others.length) throw failures.from_config_alone({ flags: others })
  const text = await readGivenFile(path, 'The --from-config file')
  const config = parseRunConfig(text, path)
  await checkSections(app, config)
  if (config.secrets?.length) {
    const given = config.secrets.map(reference => reference.replace(',target=', ' as ')).join(', ')
    app.log.info(`"${config.name}" is given secrets, as its file says: ${given}.`)
  }
  return config
}

/** Every plugin checks the members it owns. */
export async function checkSections(app: App, config: RunConfig): Promise<void> {
  for (const section of await app.contributions('sections')) section.check(config)
}
