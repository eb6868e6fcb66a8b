import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { failures } from './failures.ts'

/**
 * Refuses what passed the stage `authenticate` without a caller. There is no such request as long as the plugin that
 * checks tokens does its work; without it a workload behind a login would be open.
 */
export const requireCaller = (): MiddlewareFactory => async config =>
  config.embedded_auth_server_config
    ? {
        name: 'auth-server-caller',
        stage: 'tools',
        wrap: next => exchange => {
          if (!exchange.caller) throw failures.auth_server_caller_unknown()
          return next(exchange)
        },
      }
    : undefined
