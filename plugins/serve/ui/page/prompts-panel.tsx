import type { Prompt, PromptResult } from '../page-types.d.ts'
import type { Api } from './api.ts'
import { ContentBlock } from './content-block.tsx'
import { OfferList } from './offer-list.tsx'
import { OfferPanel } from './offer-panel.tsx'
import { Description, Opening } from './opening.tsx'
import type { PanelProps } from './panel.ts'
import { TextForm } from './text-form.tsx'
import { useWork } from './use-work.ts'

/** A prompt may have any number of messages. */
const MOST_SHOWN = 50

const textOf = ({ name, title = '', description = '' }: Prompt): string => `${name} ${title} ${description}`

/** The prompts that the server of a workload offers. */
export const Prompts = (panel: PanelProps) => (
  <div class="tools">
    <OfferPanel<{ prompts: readonly Prompt[] }> {...{ panel, path: 'prompts', title: 'prompts' }}>
      {({ prompts }) =>
        prompts.length === 0 ? (
          <p class="empty">This server offers no prompts.</p>
        ) : (
          <OfferList items={prompts} title="prompts" textOf={textOf}>
            {prompt => (
              <Opening
                name={prompt.name}
                brief={prompt.description?.trim().split('\n', 1)[0] || prompt.title || ''}
              >
                {() => (
                  <>
                    <Description text={prompt.description} />
                    <PromptForm {...{ api: panel.api, workload: panel.workload.name, prompt }} />
                  </>
                )}
              </Opening>
            )}
          </OfferList>
        )
      }
    </OfferPanel>
  </div>
)

/** Asks for the arguments of a prompt, and shows its messages. */
function PromptForm({ api, workload, prompt }: { api: Api; workload: string; prompt: Prompt }) {
  const { state, outcome, run, cancel } = useWork<PromptResult>({
    begun: 'Asking the server…',
    cancelled: 'The request was cancelled.',
  })
  const path = `/api/v1beta/workloads/${encodeURIComponent(workload)}/prompts/get`
  const ask = (values: Record<string, string>) =>
    run(({ signal }) => api.send('POST', path, { name: prompt.name, arguments: values }, signal))
  return (
    <div class="call">
      <TextForm
        label={`Arguments of ${prompt.name}`}
        action="Show messages"
        variables={prompt.arguments ?? []}
        state={state}
        onSubmit={ask}
        onCancel={cancel}
      />
      {outcome?.problem !== undefined && (
        <p class="problem" role="alert">
          {outcome.problem}
        </p>
      )}
      {outcome?.result && <Messages result={outcome.result} />}
    </div>
  )
}

const Messages = ({ result: { messages, description } }: { result: PromptResult }) => (
  <section class="result" aria-label="Messages">
    {description && <p class="soft said">{description}</p>}
    {messages.length === 0 && <p class="soft">The prompt has no messages.</p>}
    {messages.slice(0, MOST_SHOWN).map(({ role, content }, index) => (
      <div class="message" key={index}>
        <h3>{role}</h3>
        <ContentBlock block={content} />
      </div>
    ))}
    {messages.length > MOST_SHOWN && (
      <p class="soft">{messages.length - MOST_SHOWN} more messages are not shown.</p>
    )}
  </section>
)
