/** The members of the API's responses that the page reads; see docs/http-api.md. */

export interface Workload {
  readonly name: string
  readonly package: string
  readonly url: string
  readonly port: number
  readonly transport_type: string
  readonly proxy_mode?: string
  readonly status: string
  readonly status_context?: string
  readonly created_at: string
  readonly started_at: string
  readonly group?: string
  readonly remote?: boolean
  readonly no_sandbox?: boolean
}

export interface Tool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: unknown
}

/** One part of what a tool returned. A server may leave out or add anything. */
export interface Content {
  readonly type: string
  readonly text?: string
  readonly mimeType?: string
  /** Base64. */
  readonly data?: string
  readonly uri?: string
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly resource?: ResourceContents
}

/** What a resource holds (MCP, `TextResourceContents` and `BlobResourceContents`). */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  /** Base64. */
  readonly blob?: string
}

export interface Resource {
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** In bytes. */
  readonly size?: number
}

/** Resources whose URIs are made of variables. */
export interface ResourceTemplate {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** RFC 6570. */
  readonly uriTemplate: string
}

export interface Prompt {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly arguments?: readonly {
    readonly name: string
    readonly description?: string
    readonly required?: boolean
  }[]
}

/** What a prompt says (MCP, `GetPromptResult`). */
export interface PromptResult {
  readonly description?: string
  readonly messages: readonly { readonly role: string; readonly content: Content }[]
}

/** What a tool returned (MCP, `CallToolResult`). */
export interface ToolResult {
  readonly content?: readonly Content[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

/** A variable or header that a server of the registry asks for. */
export interface Variable {
  readonly name: string
  readonly description?: string
  readonly required?: boolean
  readonly secret?: boolean
  readonly default?: string
  readonly choices?: readonly string[]
}

/** A server as the registry lists it. */
export interface Entry {
  readonly name: string
  readonly title?: string
  readonly description: string
}

/** A server of the registry with what it needs. */
export interface ServerDetails extends Entry {
  readonly image?: string
  readonly url?: string
  readonly tier?: string
  readonly repository_url?: string
  readonly env_vars?: readonly Variable[]
  readonly headers?: readonly Variable[]
  /** How to log in to a remote server. */
  readonly oauth_config?: {
    readonly issuer?: string
    readonly authorize_url?: string
    readonly client_id?: string
  }
  readonly permissions?: {
    readonly read?: readonly string[]
    readonly write?: readonly string[]
    readonly network?: {
      readonly outbound?: {
        readonly insecure_allow_all?: boolean
        readonly allow_host?: readonly string[]
        readonly allow_port?: readonly number[]
      }
    }
  }
}

/** What the registry's entry of a server wants of this machine. */
export interface WantedPermissions {
  readonly server: string
  /** Stands for exactly these mounts. */
  readonly hash: string
  readonly mounts: readonly {
    readonly source: string
    readonly target: string
    readonly access: 'read' | 'write'
    readonly remark?: string
  }[]
}

/** A connection that was not let out. */
export interface Denial {
  readonly workload: string
  readonly host?: string
  readonly port?: number
  readonly reason?: string
}

/** A destination that a workload was denied lately. */
export interface DeniedDestination {
  readonly time: string
  readonly host: string
  readonly port: number
  readonly reason?: string
  /** What the profile's lists become when it is allowed; without it, it cannot be allowed from here. */
  readonly widened?: { readonly allow_host: readonly string[]; readonly allow_port: readonly number[] }
}

/** What a workload may do: its details, and of its run config and status what those lack. */
export interface Grants {
  readonly details: {
    readonly env_vars: Readonly<Record<string, string>>
    readonly secrets: readonly SecretReference[]
    readonly no_sandbox?: boolean
    readonly permission_profile: {
      readonly read?: readonly string[]
      readonly write?: readonly string[]
      readonly network?: {
        readonly mode?: string
        readonly outbound?: {
          readonly insecure_allow_all?: boolean
          readonly allow_host?: readonly string[]
          readonly allow_port?: readonly number[]
        }
      }
    } | null
  }
  readonly config: {
    readonly isolate_network?: boolean
    readonly resources?: { readonly memory?: string; readonly cpus?: string }
    readonly image_verification?: string
    readonly image_signer?: {
      readonly identity?: string
      readonly issuer?: string
      readonly repository?: string
      readonly verified: boolean
    }
  }
  readonly middlewares: readonly { readonly name: string; readonly description?: string }[]
  readonly denials: readonly DeniedDestination[]
}

/** A login that waits for a person, or that is not needed any more. */
export interface BegunLogin {
  readonly state: 'waiting' | 'done'
  readonly url?: string
  /** To be typed there. */
  readonly user_code?: string
}

/** How a login ended. */
export interface LoginEnd {
  readonly name: string
  readonly problem?: string
}

/** An upgrade that came to nothing. */
export interface Rollback {
  readonly name: string
  readonly to?: string
  readonly reason?: string
}

/** An application that keelson can configure. */
export interface ClientStatus {
  readonly client_type: string
  /** How people call it. */
  readonly title: string
  /** Where its settings are. */
  readonly file: string
  readonly installed: boolean
  /** What is wrong with its file. */
  readonly problem?: string
}

/** A client application and the groups whose workloads it gets. */
export interface Registration {
  readonly name: string
  readonly groups: readonly string[]
}

interface Change {
  readonly from: string
  readonly to: string
}

export interface Upgrade {
  readonly workload_name: string
  readonly registry_server?: string
  readonly status: string
  readonly current_image?: string
  readonly candidate_image?: string
  readonly reason?: string
  readonly config_drift?: { readonly transport?: Change; readonly permission_profile?: Change }
  readonly env_var_drift?: {
    readonly added?: readonly Variable[]
    readonly removed?: readonly Variable[]
  }
}

export interface SecretReference {
  readonly name: string
  readonly target: string
}

/** One event of a stream (WHATWG HTML, section 9.2). */
export interface ServerEvent {
  readonly name: string
  readonly data: unknown
}

/** A workload in the shape of the request that makes it. */
export interface WorkloadDetails {
  readonly image: string
  readonly url?: string
  readonly cmd_arguments: readonly string[]
  readonly env_vars: Readonly<Record<string, string>>
  readonly secrets: readonly SecretReference[]
  readonly volumes: readonly string[]
  readonly transport: string
  readonly group?: string
  readonly runtime?: string
  readonly header_forward?: {
    readonly add_plaintext_headers?: Readonly<Record<string, string>>
    readonly add_headers_from_secret?: Readonly<Record<string, string>>
  }
}

/** An installed skill. */
export interface Skill {
  readonly metadata: {
    readonly name: string
    readonly version: string
    readonly description: string
    readonly author: string
  }
  readonly scope: string
  readonly project_root?: string
  readonly reference?: string
  readonly digest?: string
  readonly clients?: readonly string[]
  readonly installed_at: string
}

export interface RegistrySummary {
  readonly type: string
  readonly source: string
  readonly server_count: number
  readonly last_updated: string
  readonly auth_type: string
  readonly auth_status: string
}

/** Where secrets are kept. */
export interface SecretsPlace {
  readonly provider_type: string
  readonly capabilities: { readonly can_write: boolean }
}
