import { bool, integer, nullable, oneOf, optional, text, texts } from '../../src/lib/schema.ts'

const ON_ERROR = ['continue', 'refuse'] as const

/** The members of `audit_config`. What is null is not set. */
export const auditMembers = {
  /** False turns the audit off; otherwise any other member turns it on. */
  enabled: optional(nullable(bool)),
  /** What events name as their source; the name of the workload without one. */
  component: optional(nullable(text)),
  /** Only these types; empty: all. */
  eventTypes: optional(nullable(texts)),
  /** Not these types, whatever `eventTypes` says. */
  excludeEventTypes: optional(nullable(texts)),
  includeRequestData: optional(nullable(bool)),
  includeResponseData: optional(nullable(bool)),
  /** JSON-RPC errors in successful responses make the outcome `application_error`; true without it. */
  detectApplicationErrors: optional(nullable(bool)),
  /** Most bytes of a request and of a response in an event; 1024 without it. */
  maxDataSize: optional(nullable(integer)),
  /** Most actors of a delegation in an event; 10 without it. */
  maxDelegationDepth: optional(nullable(integer)),
  /** Absolute path; without it a file of our own. */
  logFile: optional(nullable(text)),
  /** `local`, `udp://HOST:PORT` or `tcp://HOST:PORT`; a file is written beside it only where `logFile` names one. */
  syslog: optional(nullable(text)),
  /** Events are also sent to the endpoint of the workload's telemetry, as OTLP logs. */
  otlp: optional(nullable(bool)),
  /** Bytes after which a new file begins; 100 MiB without it. */
  maxFileSize: optional(nullable(integer)),
  /** Most files of the past that are kept; without it all are. */
  maxFiles: optional(nullable(integer)),
  /** Each line has the hash of the line before it. */
  hashChain: optional(nullable(bool)),
  /** What happens to requests while nothing can be written. */
  onError: optional(nullable(oneOf(ON_ERROR))),
}
