import { builtins } from '../../../plugins/index.ts'
import { createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

/** Gets a token of the one login that its home has, as a process of its own, and prints how that ended. */
const app = createApp({
  paths: findPaths(process.env),
  log: createLog({ write: () => undefined, human: false, debug: false }),
  env: process.env,
  entries: builtins,
})
const keeper = await app.service('remoteLogins')
const [[key, { origin, discovery }] = ['', { origin: '', discovery: undefined }]] = await keeper.list()
if (!discovery) throw new Error('there is no login')
const outcome = await keeper.token({
  key,
  origin,
  discovery,
  settings: {},
  reach: { target: `${origin}/mcp` },
})
process.stdout.write('token' in outcome ? 'token' : outcome.problem.reason)
