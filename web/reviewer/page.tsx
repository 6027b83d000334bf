import { useEffect, useRef, useState } from 'preact/hooks'
import { call, OFFLINE } from '../api.ts'
import { dropDraft, keepDraft, readDraft } from '../drafts.ts'
import { chooseLanguage, firstLanguage } from '../languages.ts'
import { paths } from '../paths.ts'
import { Action } from '../ui/action.tsx'
import { LanguageSwitch } from '../ui/language-switch.tsx'
import { type Draft, NO_DRAFT, type Review, submission, unanswered } from './review.ts'
import { SkillCard } from './skill-card.tsx'
import { type Texts, texts } from './texts.ts'

type End = 'thanks' | 'declined' | 'already' | 'expired' | 'notFound'

export function ReviewerPage({ id, token }: { id: string; token: string | undefined }) {
  const [language, setLanguage] = useState(firstLanguage)
  const [review, setReview] = useState<Review>()
  const [end, setEnd] = useState<End>()
  const [fault, setFault] = useState<string>()
  const words = texts[language]
  useEffect(() => chooseLanguage(language), [language])
  useEffect(() => void load(), [])

  return (
    <div class="sheet">
      <header class="top">
        <span class="wordmark">Attestry</span>
        <LanguageSwitch language={language} onChoose={setLanguage} />
      </header>
      <main class="stack" id="main">
        {end ? (
          <Ending end={end} words={words} student={review?.requesterInfo.name ?? ''} />
        ) : review ? (
          <ReviewForm review={review} token={token} words={words} onEnd={setEnd} />
        ) : fault ? (
          <Fault text={words[fault as 'offline' | 'trouble' | 'slow']} retry={words.retry} onRetry={load} />
        ) : (
          <Skeleton />
        )}
      </main>
    </div>
  )

  async function load() {
    setFault(undefined)
    const answer = await call<Review>(paths.verifyPage(id))
    if (answer.ok) {
      setReview(answer.data)
      const { status } = answer.data
      if (status === 'completed' || status === 'declined') setEnd('already')
      if (status === 'expired') setEnd('expired')
      document.title = `${texts.en.title(answer.data.requesterInfo.name)} · Attestry`
    } else if (answer.code === 'LINK_EXPIRED') setEnd('expired')
    else if (answer.status >= 400 && answer.status < 429) setEnd('notFound')
    else setFault(answer.code === OFFLINE ? 'offline' : answer.status === 429 ? 'slow' : 'trouble')
  }
}

interface FormProps {
  review: Review
  token: string | undefined
  words: Texts
  onEnd: (end: End) => void
}

function ReviewForm({ review, token, words, onEnd }: FormProps) {
  const name = `review ${review.serviceVerificationId}`
  const [draft, setDraft] = useState<Draft>(() => ({ ...NO_DRAFT, ...readDraft<Draft>(name) }))
  const [sending, setSending] = useState(false)
  const [fault, setFault] = useState<string>()
  const sent = useRef(false)
  const { endorserInfo, requesterInfo, source, skills } = review
  const left = unanswered(review, draft)
  const locked = token === undefined
  const student = requesterInfo.name

  return (
    <form class="stack" onSubmit={send} noValidate>
      <div class="stack-tight">
        <h1>{words.title(student)}</h1>
        <p class="soft">
          {words.intro(endorserInfo.name)} {words.as[review.endorsementType] ?? ''}
        </p>
      </div>
      {locked && (
        <p class="notice" role="note">
          {words.noToken}
        </p>
      )}
      <section class="card stack-tight" aria-label={words.source[source.type]}>
        <span class="tag">{words.source[source.type] ?? source.type}</span>
        <h2>{source.title}</h2>
        {source.subtitle && <p>{source.subtitle}</p>}
        {source.meta && <p class="soft small">{source.meta}</p>}
        {source.description && <p class="soft small description">{source.description}</p>}
      </section>
      {draft.declining ? (
        <section class="card stack-tight">
          <h2>
            <label for="reason">{words.declineTitle}</label>
          </h2>
          <p class="soft small">{words.declineHint(student)}</p>
          <textarea
            id="reason"
            maxLength={500}
            value={draft.reason}
            onInput={(event) => change({ ...draft, reason: event.currentTarget.value })}
          />
        </section>
      ) : (
        <section class="stack">
          <div>
            <h2>{words.skills}</h2>
            <p class="soft small">{words.skillsHint}</p>
          </div>
          {skills.map((skill) => (
            <SkillCard
              key={skill.skillId}
              skill={skill}
              texts={words}
              disabled={locked || sending}
              decision={draft.decisions[skill.skillId] ?? {}}
              onChange={(decision) =>
                change({ ...draft, decisions: { ...draft.decisions, [skill.skillId]: decision } })
              }
            />
          ))}
        </section>
      )}
      <div class="stack-tight">
        {fault && (
          <p class="notice bad" role="alert">
            {fault}
          </p>
        )}
        <Action class="primary wide" busy={sending} ready={!locked && (draft.declining || left === 0)}>
          {sending ? words.sending : draft.declining ? words.declineSend : words.send}
        </Action>
        <p class="soft small center" aria-live="polite">
          {!draft.declining && left > 0 && !locked ? words.left(left) : ''}
        </p>
        <div class="center">
          <button
            type="button"
            class="plain"
            disabled={locked || sending}
            onClick={() => change({ ...draft, declining: !draft.declining })}
          >
            {draft.declining ? words.back : words.decline}
          </button>
        </div>
        <p class="soft small center">
          {words.privacy(student)}{' '}
          {words.until(new Date(review.expiresAt).toLocaleDateString(words.locale, { dateStyle: 'long' }))}
        </p>
      </div>
    </form>
  )

  function change(next: Draft) {
    setDraft(next)
    setFault(undefined)
    keepDraft(name, next)
  }

  async function send(event: Event) {
    event.preventDefault()
    if (sending || locked) return
    if (draft.declining && !draft.reason.trim()) return setFault(words.needReason)
    setSending(true)
    setFault(undefined)
    const answer = await call(paths.submitReview, { body: submission(review, draft, token!) })
    setSending(false)
    // A first try may have arrived although its answer did not.
    const arrived = answer.ok || (answer.code === 'ALREADY_SUBMITTED' && sent.current)
    sent.current = true
    if (arrived) {
      dropDraft(name)
      onEnd(draft.declining ? 'declined' : 'thanks')
    } else if (answer.ok === false) {
      if (answer.code === 'ALREADY_SUBMITTED') onEnd('already')
      else if (answer.code === 'LINK_EXPIRED') onEnd('expired')
      else if (answer.code === 'INVALID_TOKEN') setFault(words.wrongToken)
      else if (answer.code === OFFLINE) setFault(words.offline)
      else if (answer.status === 429) setFault(words.slow)
      else setFault(answer.status === 400 ? answer.message : words.trouble)
    }
  }
}

function Ending({ end, words, student }: { end: End; words: Texts; student: string }) {
  const [title, text] = {
    thanks: [words.thanks, words.thanksText(student)],
    declined: [words.declined, words.declinedText(student)],
    already: [words.already, words.alreadyText],
    expired: [words.expired, words.expiredText],
    notFound: [words.notFound, words.notFoundText],
  }[end]!
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="card stack-tight ending" role="status">
      {end === 'thanks' && <div class="tick" aria-hidden="true" />}
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <p class="soft">{text}</p>
    </section>
  )
}

function Fault({ text, retry, onRetry }: { text: string; retry: string; onRetry: () => void }) {
  return (
    <section class="card stack-tight" role="alert">
      <p>{text}</p>
      <button type="button" onClick={onRetry}>
        {retry}
      </button>
    </section>
  )
}

/** The page's outline while it loads, so that nothing jumps. */
function Skeleton() {
  return (
    <div class="stack" aria-hidden="true">
      <h1 class="waiting">Confirm skills for somebody</h1>
      <div class="card stack-tight">
        <p class="waiting">Work experience</p>
        <p class="waiting">Title of it</p>
      </div>
      <div class="card stack-tight">
        <p class="waiting">A skill</p>
        <div class="choices two">
          <span class="choice waiting">Yes</span>
          <span class="choice waiting">No</span>
        </div>
      </div>
    </div>
  )
}
