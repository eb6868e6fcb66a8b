import { join } from 'node:path'
import type { Routes } from '../../src/http/api.ts'
import { createDenialFeed } from './denial-feed.ts'

/** Sends denied connections to subscribers of events, as `egress-denied`. */
export const egressRoutes: Routes = (api, app) =>
  api.events(createDenialFeed({ folder: join(app.paths.data, 'logs'), log: app.log }))
