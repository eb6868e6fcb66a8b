import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTemplate } from '../../../../plugins/endpoint/composite/template/render.ts'

const fixture = join(import.meta.dirname, '../../../../fixtures/composite/templates.json')
const { data, cases } = JSON.parse(await readFile(fixture, 'utf8')) as {
  data: object
  cases: { template: string; text: string }[]
}

test.each(cases)('$template gives what Go makes of it', ({ template, text }) => {
  expect(readTemplate(template).render(data)).toBe(text)
})

test.each([
  ['{{ .a', '"{{" without "}}"'],
  ['{{if .a}}x', '"if" without "end"'],
  ['x{{end}}', '"end" without its "if"'],
  ['{{range .a}}{{else}}x', '"range" without "end"'],
  ['{{ nothing .a }}', 'there is no function "nothing"'],
  ['{{ .a | }}', 'a value is missing'],
  ['{{}}', 'a value is missing'],
  ['{{ (len .a }}', '"(" without ")"'],
  ['{{ len .a) }}', '")" is in the wrong place'],
  ['{{ .steps.my-step.output }}', '`index .steps "my-step"` reaches a name with "-"'],
  ['{{ template "x" }}', '"template" is not supported'],
  ['{{if .a}}'.repeat(200), 'nested deeper than 100 levels'],
  [`{{ ${'('.repeat(200)}1${')'.repeat(200)} }}`, 'nested deeper than 100 levels'],
])('%j cannot be read', (template, problem) => {
  expect(() => readTemplate(template)).toThrow(problem)
})

test.each([
  ['{{ .absent }}', 'a value is not there'],
  ['{{ .absent.more }}', 'a value is not there'],
  ['{{ .constructor }}', 'a value is not there'],
  ['{{ index .list 9 }}', 'index 9 of a list with 2 elements'],
  ['{{ lt 1 "a" }}', 'only two numbers or two texts'],
  ['{{ eq .list .list }}', 'lists and objects cannot be compared'],
  ['{{ fromJson "{" }}', 'not JSON'],
  ['{{ range 5 }}{{ end }}', '`range` over something that is no list or object'],
  ['{{ $x }}', 'there is no variable $x'],
  ['{{ .text 1 }}', 'only functions take arguments'],
])('%j cannot be rendered', (template, problem) => {
  const readable = readTemplate(template)
  expect(() => readable.render({ list: ['a', 'b'], text: 't' })).toThrow(problem)
})

test('lists and objects are printed as JSON', () => {
  expect(readTemplate('{{ .list }} {{ . }}').render({ list: [1, 'a'] })).toBe('[1,"a"] {"list":[1,"a"]}')
})

test('what a template makes has an end', () => {
  const many = { list: Array.from({ length: 5000 }, () => 'x'.repeat(1000)) }
  const nested = '{{range $.list}}{{range $.list}}{{end}}{{end}}'
  expect(() => readTemplate(nested).render(many)).toThrow('too many steps')
  expect(() => readTemplate('{{range $.list}}{{range $.list}}{{.}}{{end}}{{end}}').render(many)).toThrow(
    '10 MiB',
  )
  const doubled = `{{$x := "${'x'.repeat(1000)}"}}${'{{$x = print $x $x}}'.repeat(40)}`
  expect(() => readTemplate(doubled).render({})).toThrow('10 MiB')
})
