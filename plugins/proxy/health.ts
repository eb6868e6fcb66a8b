/** The content of `/health`. */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  /** How many processes serve one client each; absent where all clients share one. */
  readonly client_processes?: number
  readonly mcp?: {
    readonly available: boolean
    readonly response_time_ms?: number
    readonly error?: string
    readonly last_checked: string
  }
}
