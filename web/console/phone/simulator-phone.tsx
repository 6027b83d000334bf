import { useEffect, useRef, useState } from 'preact/hooks'
import type { CandidateConversation, ConversationPrompt } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Time } from '../../ui/time.tsx'
import { CANDIDATE_STATUS_NAMES } from '../campaigns/status-names.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { Conversation } from './conversation.tsx'
import './simulator-phone.css'
import { channelName, noMessageSentText, PERSONAS, reasonText } from '../shared/labels.ts'

const POLL_INTERVAL_MS = 1200
/** The time of the first message is shown only if the message is due later than this from now. */
const SHOW_TIME_AFTER_MS = 60_000

interface Props {
  candidateId: string
  /** Called with the candidate when their conversation changes. */
  onCandidate?: (candidate: CandidateConversation) => void
}

/** A candidate's phone in test mode: shows the messages, and lets the user answer as the candidate. */
export function SimulatorPhone({ candidateId, onCandidate }: Props) {
  const context = useOrgContext()
  const path = context.apiPath(`/phone/${candidateId}`)
  const [ended, setEnded] = useState(false)
  const {
    data: loaded,
    error,
    set,
  } = useData<CandidateConversation>(path, { pollMs: ended ? undefined : POLL_INTERVAL_MS })
  const newest = useRef<CandidateConversation | undefined>(undefined)
  // Ignore a poll that started before the latest answer was sent.
  if (
    loaded &&
    (newest.current?.candidate_id !== candidateId || loaded.messages.length >= newest.current.messages.length)
  )
    newest.current = loaded
  const data = newest.current?.candidate_id === candidateId ? newest.current : undefined
  const [submitError, setSubmitError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [text, setText] = useState('')
  const screen = useRef<HTMLDivElement>(null)
  const messageCount = data?.messages.length ?? 0
  useEffect(() => {
    screen.current?.scrollTo({ top: screen.current.scrollHeight })
    if (data) onCandidate?.(data)
  }, [messageCount, data?.status])
  useEffect(() => setEnded(data !== undefined && data.status !== 'pending'), [data?.status])

  if (error) return <Notice kind="bad">{error.message}</Notice>
  const prompt = data?.asking.at(-1)
  const lastChannel = data?.messages.at(-1)?.channel
  const lastReceived = data?.messages.filter(({ direction }) => direction === 'out').at(-1)
  const lastQuestion = data?.messages.filter(({ parts }) => parts.some(({ kind }) => kind !== 'notice')).at(-1)
  const hasMessages = messageCount > 0
  const canAnswer = data?.status === 'pending' && !data.part && context.can('recruiter')
  return (
    <section class="simulator-phone" aria-label={data ? t('Phone of {name}', { name: data.name }) : t('Phone')}>
      <header class={`simulator-phone-top ${lastChannel ?? ''}`}>
        <span class="avatar" aria-hidden="true">
          {data ? initials(data.name) : ''}
        </span>
        <div>
          <p class="simulator-phone-name">{data?.name ?? <span class="waiting">Candidate</span>}</p>
          <p class="small">
            {data ? ((lastChannel === 'email' ? data.email : data.phone) ?? data.email) : '…'}
            {lastChannel && ` · ${channelName(lastChannel)}`}
          </p>
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard */}
      <div class="simulator-phone-screen" ref={screen} role="log" aria-label={t('Messages')} tabIndex={0}>
        {data && !hasMessages && <NoMessageYet candidate={data} />}
        {data && <Conversation messages={data.messages} openStep={canAnswer ? prompt?.step : undefined} />}
        {busy && <p class="bubble out typing">…</p>}
      </div>
      <div class="simulator-phone-reply stack-tight">
        {submitError && <Notice kind="bad">{submitError.message}</Notice>}
        {!data ? (
          <p class="soft small">…</p>
        ) : data.status !== 'pending' ? (
          <p class="conversation-ended">
            {richText(
              data.reason ? 'The conversation has ended: {status}, {reason}.' : 'The conversation has ended: {status}.',
              {
                status: <strong>{CANDIDATE_STATUS_NAMES[data.status]}</strong>,
                reason: reasonText(data.reason),
              },
            )}
          </p>
        ) : data.part ? (
          <p class="conversation-ended">
            {t('This test number answers automatically: it {description}.', {
              description: PERSONAS[data.part]?.description ?? data.part,
            })}
          </p>
        ) : !context.can('recruiter') ? (
          <p class="conversation-ended">{t('You need the recruiter role to answer as the candidate.')}</p>
        ) : (
          hasMessages && prompt && answerForm(prompt)
        )}
      </div>
    </section>
  )

  function answerForm({ choices, kind, step }: ConversationPrompt) {
    return (
      <>
        {lastQuestion && lastQuestion !== lastReceived && (
          <p class="small soft">{t('Your reply answers the last question, not the last message.')}</p>
        )}
        {choices.length > 0 && (
          <div class="quick">
            {choices.map(({ value, label }, index) => (
              <SubmitButton type="button" key={value} busy={busy} onClick={() => void sendReply({ value, step })}>
                {(lastQuestion?.channel ?? lastChannel) === 'sms' && kind !== 'words'
                  ? `${index + 1}. ${label}`
                  : label}
              </SubmitButton>
            ))}
          </div>
        )}
        <form
          class="write"
          onSubmit={(event) => {
            event.preventDefault()
            if (text.trim()) void sendReply({ text: text.trim(), step })
          }}
        >
          <input
            type="text"
            aria-label={t('Type an answer')}
            placeholder={kind === 'words' ? t('Type your answer') : t('Or type something')}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <SubmitButton class="primary" busy={busy} ready={text.trim() !== ''}>
            {t('Send')}
          </SubmitButton>
        </form>
        <p class="small soft row between">
          <span>{t('You are answering as the candidate')}</span>
          <SubmitButton
            type="button"
            class="plain flush small"
            busy={busy}
            onClick={() => void sendReply({ text: 'STOP' })}
          >
            {t('Send STOP')}
          </SubmitButton>
        </p>
      </>
    )
  }

  async function sendReply(answer: { value?: string; text?: string; step?: number }) {
    setBusy(true)
    const response = await api<CandidateConversation>(`${path}/reply`, {
      body: { ...answer, client_id: crypto.randomUUID() },
    })
    setBusy(false)
    setSubmitError(response.ok ? undefined : response.error)
    if (!response.ok) return
    setText('')
    newest.current = response.data
    set(response.data)
  }
}

function NoMessageYet({ candidate }: { candidate: CandidateConversation }) {
  const { next_contact_at: next, link, status } = candidate
  if (status !== 'pending') return <p class="soft">{noMessageSentText(candidate)}</p>
  const firstMessageIsDue = !next || Date.parse(next) - Date.now() < SHOW_TIME_AFTER_MS
  return (
    <div class="stack-tight">
      <p class="soft">
        {firstMessageIsDue
          ? t('Sending the first message…')
          : richText(
              'Candidates are contacted between 09:00 and 20:00 Indian time. The first message arrives {time}.',
              { time: <Time at={next} /> },
            )}
      </p>
      {!firstMessageIsDue && link && (
        <p>
          <a href={link} target="_blank" rel="noreferrer">
            {t("Open the candidate's page now")}
          </a>
        </p>
      )}
    </div>
  )
}

export function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean)
  return [words[0]?.[0], words.length > 1 ? words.at(-1)?.[0] : undefined].filter(Boolean).join('').toUpperCase()
}
