/** An object of the Kubernetes API, as it is written. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [member: string]: unknown
}

/** The parts of a workload, each with pods of its own. */
export type Part = 'edge' | 'server' | 'egress'

/** What all manifests of a workload are made from. */
export interface Plan {
  /** A label of DNS, with which all names begin. */
  readonly name: string
  /** The image of keelson, by digest. */
  readonly keelsonImage: string
  /** The run config of the edge, as JSON; the egress proxy reads its permission profile there too. */
  readonly runConfig: string
  /** Whether any replica of the edge may serve any request. */
  readonly stateless: boolean
  /** Name under which the world reaches the edge; undefined: only pods of the namespace do. */
  readonly publicHost?: string | undefined
  /** The Gateway that a route is attached to; undefined: an Ingress is written instead of a route. */
  readonly gateway?: string | undefined
  /** Ports that the edge itself connects to, beside the server: of a remote server, of identity providers. */
  readonly edgePorts: readonly number[]
  /** Absent for a remote server. */
  readonly server?: ServerPlan
  /** Values of a Secret that containers get as variables, by part. */
  readonly secrets: readonly { readonly part: Part; readonly variable: string; readonly key: string }[]
}

export interface ServerPlan {
  /** By digest. */
  readonly image: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly port: number
  readonly memory: string
  readonly cpu: string
  /** Paths that the server may write to, beside `/tmp`; what is written is lost with the pod. */
  readonly writable: readonly string[]
  /** Ports of the Internet that its egress proxy may connect to; empty: the server reaches nothing. */
  readonly reaches: readonly number[] | 'any' | undefined
}

/** The ports of the pods. */
export const EDGE_PORT = 8080
export const EGRESS_PORT = 3128

/** Two hyphens stand in no name that is made from a workload's, so the parts of one are not another workload. */
export const objectName = ({ name }: Pick<Plan, 'name'>, part: Part): string =>
  part === 'edge' ? name : `${name}--${part}`

export const labelsOf = ({ name }: Plan, part: Part): Record<string, string> => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/component': part,
  'app.kubernetes.io/managed-by': 'keelson',
})

/** The labels by which the pods of a part are found; they never change, as a Deployment demands. */
export const selectorOf = ({ name }: Plan, part: Part): Record<string, string> => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/component': part,
})
