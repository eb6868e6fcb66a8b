import type { ResourceContents } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { Contents } from './contents.tsx'
import { TextForm, type Variable } from './text-form.tsx'
import { useWork } from './use-work.ts'

/** A resource may have any number of parts. */
const MOST_SHOWN = 50

/** Reads a resource, whose URI may need variables, and shows what it holds. */
export function ReadResource(props: {
  api: Api
  workload: string
  label: string
  variables: readonly Variable[]
  uriOf: (values: Record<string, string>) => string
}) {
  const { api, workload, label, variables, uriOf } = props
  const { state, outcome, run, cancel } = useWork<{ uri: string; contents: readonly ResourceContents[] }>({
    begun: 'Reading…',
    cancelled: 'Reading was cancelled.',
  })
  const read = (values: Record<string, string>) =>
    run(async ({ signal }) => {
      const uri = uriOf(values)
      const path = `/api/v1beta/workloads/${encodeURIComponent(workload)}/resources/read`
      return { uri, contents: (await api.send('POST', path, { uri }, signal)).contents }
    })
  return (
    <div class="call">
      <TextForm action="Read" onSubmit={read} onCancel={cancel} {...{ label, variables, state }} />
      {outcome?.problem !== undefined && (
        <p class="problem" role="alert">
          {outcome.problem}
        </p>
      )}
      {outcome?.result && (
        <section class="result" aria-label="Contents">
          {outcome.result.contents.length === 0 && <p class="soft">The resource is empty.</p>}
          {outcome.result.contents.slice(0, MOST_SHOWN).map((contents, index) => (
            <Contents key={index} contents={contents} />
          ))}
          {outcome.result.contents.length > MOST_SHOWN && (
            <p class="soft">{outcome.result.contents.length - MOST_SHOWN} more parts are not shown.</p>
          )}
        </section>
      )}
    </div>
  )
}
