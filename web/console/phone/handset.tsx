import { useEffect, useRef, useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { usePlace } from '../shell/session.ts'
import { Conversation } from './conversation.tsx'
import './handset.css'
import { channelName, PARTS, reasonText, whyNothingSent } from '../shared/labels.ts'
import type { Candidate, Part } from '../shared/records.ts'

const SOON = 1200

interface Props {
  candidateId: string
  /** Told whenever something has changed on it. */
  onCandidate?: (candidate: Candidate) => void
}

/** A candidate's phone in TEST: what arrives on it, and what somebody answers in the candidate's stead. */
export function Handset({ candidateId, onCandidate }: Props) {
  const place = usePlace()
  const path = place.at(`/phone/${candidateId}`)
  const [over, setOver] = useState(false)
  const { data: read, refusal, set } = useData<Candidate>(path, { every: over ? undefined : SOON })
  const newest = useRef<Candidate | undefined>(undefined)
  // A reading that was under way while somebody answered comes too late.
  if (read && (newest.current?.candidate_id !== candidateId || read.messages.length >= newest.current.messages.length))
    newest.current = read
  const data = newest.current?.candidate_id === candidateId ? newest.current : undefined
  const [refused, setRefused] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const [text, setText] = useState('')
  const screen = useRef<HTMLDivElement>(null)
  const count = data?.messages.length ?? 0
  useEffect(() => {
    screen.current?.scrollTo({ top: screen.current.scrollHeight })
    if (data) onCandidate?.(data)
  }, [count, data?.status])
  useEffect(() => setOver(data !== undefined && data.status !== 'pending'), [data?.status])

  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  const asked = data?.asking.at(-1)
  const last = data?.messages.at(-1)?.channel
  const reachable = count > 0
  const answering = data?.status === 'pending' && !data.part && place.may('recruiter')
  return (
    <section class="handset" aria-label={data ? `Phone of ${data.name}` : 'Phone'}>
      <header class={`handset-top ${last ?? ''}`}>
        <span class="avatar" aria-hidden="true">
          {data ? initials(data.name) : ''}
        </span>
        <div>
          <p class="handset-name">{data?.name ?? <span class="waiting">Somebody</span>}</p>
          <p class="small">
            {data ? ((last === 'email' ? data.email : data.phone) ?? data.email) : '…'}
            {last && ` · ${channelName(last)}`}
          </p>
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
      <div class="handset-screen" ref={screen} role="log" aria-label="Messages" tabIndex={0}>
        {data && !reachable && <Waiting candidate={data} />}
        {data && <Conversation messages={data.messages} open={answering ? asked?.step : undefined} />}
        {busy && <p class="bubble out typing">…</p>}
      </div>
      <div class="handset-reply stack-tight">
        {refused && <Notice kind="bad">{refused.message}</Notice>}
        {!data ? (
          <p class="soft small">…</p>
        ) : data.status !== 'pending' ? (
          <p class="over">
            The conversation is over: <strong>{data.status}</strong>
            {data.reason && `, ${reasonText(data.reason)}`}.
          </p>
        ) : data.part ? (
          <p class="over">This number answers by itself: it {PARTS[data.part]?.about ?? data.part}. Just watch.</p>
        ) : !place.may('recruiter') ? (
          <p class="over">Answering as the candidate needs the role recruiter.</p>
        ) : (
          reachable && asked && answersTo(asked)
        )}
      </div>
    </section>
  )

  function answersTo({ choices, kind, step }: Part) {
    return (
      <>
        {choices.length > 0 && (
          <div class="quick">
            {choices.map(({ value, label }, index) => (
              <Action type="button" key={value} busy={busy} onClick={() => void reply({ value, step })}>
                {last === 'sms' && kind !== 'words' ? `${index + 1}. ${label}` : label}
              </Action>
            ))}
          </div>
        )}
        <form
          class="write"
          onSubmit={(event) => {
            event.preventDefault()
            if (text.trim()) void reply({ text: text.trim(), step })
          }}
        >
          <input
            type="text"
            aria-label="Answer in words"
            placeholder={kind === 'words' ? 'Answer in your own words' : 'or write something'}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <Action class="primary" busy={busy} ready={text.trim() !== ''}>
            Send
          </Action>
        </form>
        <p class="small soft row between">
          <span>You answer as the candidate</span>
          <Action type="button" class="plain flush small" busy={busy} onClick={() => void reply({ text: 'STOP' })}>
            Send STOP
          </Action>
        </p>
      </>
    )
  }

  async function reply(said: { value?: string; text?: string; step?: number }) {
    setBusy(true)
    const answer = await api<Candidate>(`${path}/reply`, { body: { ...said, client_id: crypto.randomUUID() } })
    setBusy(false)
    setRefused(answer.ok ? undefined : answer.refusal)
    if (!answer.ok) return
    setText('')
    newest.current = answer.data
    set(answer.data)
  }
}

function Waiting({ candidate }: { candidate: Candidate }) {
  const { next_contact_at: next, link, status } = candidate
  if (status !== 'pending') return <p class="soft">{whyNothingSent(candidate)}</p>
  const soon = !next || Date.parse(next) - Date.now() < 60_000
  return (
    <div class="stack-tight">
      <p class="soft">
        {soon ? (
          'The first message is on its way…'
        ) : (
          <>
            People are contacted between 09:00 and 20:00 Indian time. The first message arrives <Time at={next} />.
          </>
        )}
      </p>
      {!soon && link && (
        <p>
          <a href={link} target="_blank" rel="noreferrer">
            Do not wait: open the candidate's own page
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
