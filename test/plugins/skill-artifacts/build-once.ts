/** Builds a skill and ends: `build-once.ts STORE FOLDER TAG`. Something to kill. */
import { createBuilds } from '../../../plugins/skill-artifacts/service.ts'

const [store = '', folder = '', tag = ''] = process.argv.slice(2)
const oci = () => Promise.reject(new Error('nothing is pushed here'))
await createBuilds({ folder: store, oci, env: {} }).build(folder, tag)
