import { failures as core } from '../../../src/errors.ts'
import type { OtelSettings } from '../../settings/index.ts'
import type { Setting } from '../setting.ts'

/** One value of telemetry. */
interface OtelValue {
  /** As in `set-endpoint`. */
  readonly word: string
  readonly key: keyof OtelSettings
  readonly placeholder: string
  readonly description: string
  /** Reads what the user wrote. Fails with `usage`. */
  parse(text: string): OtelSettings[keyof OtelSettings]
  show(value: unknown): string
}

const parseSwitch = (word: string) => (text: string) => {
  if (/^(1|t|true)$/i.test(text)) return true
  if (/^(0|f|false)$/i.test(text)) return false
  throw core.usage({ text: `otel ${word} takes true or false, not "${text}".` })
}

const toggle = (word: string, description: string): OtelValue => ({
  word,
  key: word as keyof OtelSettings,
  placeholder: 'true|false',
  description,
  parse: parseSwitch(word),
  show: String,
})

const OTEL_VALUES: readonly OtelValue[] = [
  {
    word: 'endpoint',
    key: 'endpoint',
    placeholder: 'HOST:PORT',
    description: 'the endpoint that telemetry is sent to (OTLP)',
    parse(text) {
      if (/^https?:\/\//i.test(text)) {
        throw core.usage({
          text: `The endpoint is a host and port without a scheme, not "${text}".`,
          hint: `Give "${text.replace(/^https?:\/\//i, '')}"; plain HTTP is chosen with \`keelson config otel set-insecure true\`.`,
        })
      }
      if (!/^[^\s/:]+(:\d{1,5})?(\/\S*)?$|^\[[0-9a-f:]+\](:\d{1,5})?(\/\S*)?$/i.test(text)) {
        throw core.usage({ text: `"${text}" is not HOST:PORT.` })
      }
      return text
    },
    show: String,
  },
  {
    word: 'sampling-rate',
    key: 'sampling-rate',
    placeholder: 'RATE',
    description: 'the share of the traces that is sent, from 0 to 1',
    parse(text) {
      const rate = Number(text)
      if (!/^\d*\.?\d+(e-?\d+)?$/i.test(text) || rate > 1) {
        throw core.usage({ text: `The sampling rate is a number from 0 to 1, not "${text}".` })
      }
      return rate
    },
    show: value => Number(value).toFixed(6),
  },
  {
    word: 'env-vars',
    key: 'env-vars',
    placeholder: 'NAME,NAME',
    description: 'the environment variables that are added to spans',
    parse(text) {
      const names = text
        .split(',')
        .map(name => name.trim())
        .filter(Boolean)
      if (!names.length) throw core.usage({ text: 'otel set-env-vars takes at least one name.' })
      return names
    },
    show: value => (value as readonly string[]).join(', '),
  },
  toggle('metrics-enabled', 'whether metrics are sent'),
  toggle('tracing-enabled', 'whether traces are sent'),
  toggle('insecure', 'whether telemetry is sent over plain HTTP'),
  toggle('enable-prometheus-metrics-path', 'whether proxies serve /metrics'),
]

/** `config otel set-X`, `get-X` and `unset-X` for every value of telemetry. */
export const otelSettings: readonly Setting[] = OTEL_VALUES.map(toSetting)

function toSetting({ word, key, placeholder, description, parse, show }: OtelValue): Setting {
  return {
    name: word,
    under: ['otel'],
    set: {
      description: `set ${description}`,
      synopsis: placeholder,
      async run({ app, args: [text = ''], print }) {
        const value = parse(text)
        const settings = await app.service('settings')
        await settings.change(current => ({ otel: { ...current('otel'), [key]: value } }))
        print(`otel ${word} is now ${show(value)}.`)
      },
    },
    get: {
      description: `show ${description}`,
      async run({ app, print }) {
        const value = (await (await app.service('settings')).get('otel'))?.[key]
        print(value === undefined ? `otel ${word} is not set.` : `otel ${word}: ${show(value)}`)
      },
    },
    unset: {
      description: `unset ${description}`,
      async run({ app, print }) {
        await (await app.service('settings')).change(current => {
          const { [key]: _, ...rest } = current('otel') ?? {}
          return { otel: Object.keys(rest).length ? rest : undefined }
        })
        print(`otel ${word} is not set any more.`)
      },
    },
  }
}
