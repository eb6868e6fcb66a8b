/** The content of `/health`. */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly mcp?: {
    readonly available: boolean
    readonly response_time_ms?: number
    readonly error?: string
    readonly last_checked: string
  }
}
