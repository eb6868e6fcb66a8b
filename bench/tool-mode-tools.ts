/** Twenty kinds of servers, each with ten kinds of things. */
export const DOMAINS: Readonly<Record<string, readonly string[]>> = {
  tracker: [
    'issue',
    'comment',
    'label',
    'milestone',
    'project',
    'sprint',
    'epic',
    'board',
    'attachment',
    'worklog',
  ],
  git: [
    'branch',
    'commit',
    'tag',
    'pull request',
    'review',
    'release',
    'workflow',
    'fork',
    'webhook',
    'secret',
  ],
  mail: [
    'message',
    'thread',
    'draft',
    'mailbox',
    'filter',
    'signature',
    'contact',
    'alias',
    'rule',
    'newsletter',
  ],
  calendar: [
    'event',
    'invitation',
    'reminder',
    'room',
    'timezone',
    'recurrence',
    'agenda',
    'holiday',
    'slot',
    'attendee',
  ],
  drive: [
    'file',
    'folder',
    'permission',
    'revision',
    'shortcut',
    'share link',
    'quota',
    'trash item',
    'template',
    'export',
  ],
  chat: [
    'channel',
    'direct message',
    'reaction',
    'emoji',
    'huddle',
    'bookmark',
    'user group',
    'canvas',
    'poll',
    'status',
  ],
  database: [
    'table',
    'row',
    'column',
    'index',
    'view',
    'migration',
    'backup',
    'query plan',
    'trigger',
    'replica',
  ],
  cloud: [
    'instance',
    'volume',
    'snapshot',
    'network',
    'firewall',
    'load balancer',
    'bucket',
    'function',
    'queue',
    'topic',
  ],
  cluster: [
    'pod',
    'deployment',
    'service',
    'ingress',
    'namespace',
    'node',
    'config map',
    'job',
    'volume claim',
    'daemon set',
  ],
  monitoring: [
    'metric',
    'alert',
    'dashboard',
    'incident',
    'log line',
    'trace',
    'monitor',
    'downtime',
    'panel',
    'runbook',
  ],
  crm: [
    'lead',
    'account',
    'opportunity',
    'campaign',
    'quote',
    'contract',
    'territory',
    'forecast',
    'pipeline',
    'activity',
  ],
  billing: [
    'invoice',
    'payment',
    'refund',
    'subscription',
    'coupon',
    'tax rate',
    'payout',
    'dispute',
    'credit note',
    'price',
  ],
  shop: [
    'product',
    'order',
    'cart',
    'customer',
    'shipment',
    'return',
    'discount',
    'inventory level',
    'gift card',
    'collection',
  ],
  docs: [
    'page',
    'block',
    'heading',
    'glossary',
    'citation',
    'footnote',
    'outline',
    'translation',
    'summary',
    'appendix',
  ],
  browser: [
    'tab',
    'screenshot',
    'cookie',
    'form',
    'download',
    'console log',
    'network request',
    'dialog',
    'element',
    'history',
  ],
  maps: [
    'route',
    'place',
    'geocode',
    'elevation',
    'distance',
    'traffic',
    'parking',
    'transit stop',
    'boundary',
    'map tile',
  ],
  design: [
    'frame',
    'component',
    'style',
    'layer',
    'prototype',
    'asset',
    'variable',
    'font',
    'plugin',
    'annotation',
  ],
  people: [
    'employee',
    'vacation',
    'payslip',
    'position',
    'candidate',
    'interview',
    'onboarding',
    'benefit',
    'timesheet',
    'goal',
  ],
  media: [
    'video',
    'playlist',
    'caption',
    'thumbnail',
    'podcast',
    'episode',
    'artist',
    'album',
    'lyric',
    'livestream',
  ],
  security: [
    'vulnerability',
    'scan',
    'certificate',
    'policy',
    'finding',
    'exception',
    'audit entry',
    'identity',
    'session',
    'token',
  ],
}

const VERBS = ['create', 'get', 'list', 'update', 'delete', 'search', 'export', 'import', 'share', 'archive']

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more })

/** A tool for each verb and thing, with as many arguments as tools of real servers have. */
export const toolsOf = (domain: string, things: readonly string[]) =>
  things.flatMap(thing => VERBS.map(verb => toTool(domain, thing, verb)))

function toTool(domain: string, thing: string, verb: string) {
  const id = `${thing.replaceAll(' ', '_')}_id`
  const isMany = verb === 'list' || verb === 'search' || verb === 'export'
  const properties = {
    ...(isMany
      ? {
          query: text(
            `Words that the ${thing}s must have. Supports quotes for phrases and a minus to exclude words.`,
          ),
          page: { type: 'integer', minimum: 1, default: 1, description: 'The page of results, from 1.' },
          per_page: {
            type: 'integer',
            minimum: 1,
            maximum: 100,
            default: 30,
            description: 'Results on one page.',
          },
          sort: text('The order of results.', { enum: ['created', 'updated', 'name'] }),
        }
      : { [id]: text(`The id of the ${thing}, as other tools of this server return it.`) }),
    ...(verb === 'create' || verb === 'update' || verb === 'import'
      ? {
          name: text(`The name of the ${thing}, at most 200 characters.`),
          description: text(`What the ${thing} is about, in Markdown.`),
          tags: { type: 'array', items: { type: 'string' }, description: 'Tags to find it by later.' },
        }
      : {}),
    workspace: text('The workspace; without it, the default one of the user.'),
    dry_run: { type: 'boolean', default: false, description: 'Only says what would be done.' },
  }
  return {
    name: `${verb}_${thing.replaceAll(' ', '_')}${isMany ? 's' : ''}`,
    title: `${verb[0]?.toUpperCase()}${verb.slice(1)} ${thing}`,
    description:
      `${verb[0]?.toUpperCase()}${verb.slice(1)} ${isMany ? `${thing}s` : `a ${thing}`} in the ${domain} service. ` +
      `Use this when the user asks to ${verb} ${isMany ? `${thing}s` : `one ${thing}`}. ` +
      `Returns the ${thing} with its id, its state, and the time of the last change. ` +
      'Fails when the user has no rights for the workspace.',
    inputSchema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties,
      required: isMany ? [] : verb === 'create' ? ['name'] : [id],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: isMany || verb === 'get', destructiveHint: verb === 'delete' },
  }
}

/** What a model would look for, and the tool that does it. */
export const TASKS = Object.values(DOMAINS).flatMap(things =>
  things.map((thing, index) => {
    const verb = VERBS[index % VERBS.length] ?? ''
    const isMany = verb === 'list' || verb === 'search' || verb === 'export'
    return {
      query: `${verb} ${thing}`,
      tool: `${verb}_${thing.replaceAll(' ', '_')}${isMany ? 's' : ''}`,
      args: isMany
        ? { query: 'quarterly report', per_page: 10 }
        : { [`${thing}_id`]: '4711', name: 'Quarterly report' },
    }
  }),
)
