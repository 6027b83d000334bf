import { useEffect, useRef, useState } from 'preact/hooks'
import { call, OFFLINE } from '../api.ts'
import type { ReviewPage } from '../api-types/verification.ts'
import { deleteDraft, readDraft, saveDraft } from '../drafts.ts'
import { initialLanguage, saveLanguage } from '../languages.ts'
import { paths } from '../paths.ts'
import { LanguageSwitch } from '../ui/language-switch.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { countUnanswered, NO_DRAFT, type ReviewDraft, reviewBody } from './review.ts'
import { SkillCard } from './skill-card.tsx'
import { type ReviewerTexts, texts } from './texts.ts'

type End = 'thanks' | 'declined' | 'alreadySubmitted' | 'expired' | 'notFound'

export function ReviewerPage({ id, token }: { id: string; token: string | undefined }) {
  const [language, setLanguage] = useState(initialLanguage)
  const [review, setReview] = useState<ReviewPage>()
  const [end, setEnd] = useState<End>()
  const [error, setError] = useState<string>()
  const words = texts[language]
  useEffect(() => saveLanguage(language), [language])
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
        ) : error ? (
          <LoadError
            text={words[error as 'offline' | 'serverError' | 'rateLimited']}
            retry={words.retry}
            onRetry={load}
          />
        ) : (
          <Skeleton />
        )}
      </main>
    </div>
  )

  async function load() {
    setError(undefined)
    const result = await call<ReviewPage>(paths.verifyPage(id))
    if (result.ok) {
      setReview(result.data)
      const { status } = result.data
      if (status === 'completed' || status === 'declined') setEnd('alreadySubmitted')
      if (status === 'expired') setEnd('expired')
      document.title = `${texts.en.title(result.data.requesterInfo.name)} · Attestry`
    } else if (result.code === 'LINK_EXPIRED') setEnd('expired')
    else if (result.status >= 400 && result.status < 429) setEnd('notFound')
    else setError(result.code === OFFLINE ? 'offline' : result.status === 429 ? 'rateLimited' : 'serverError')
  }
}

interface FormProps {
  review: ReviewPage
  token: string | undefined
  words: ReviewerTexts
  onEnd: (end: End) => void
}

function ReviewForm({ review, token, words, onEnd }: FormProps) {
  const name = `review ${review.serviceVerificationId}`
  const [draft, setDraft] = useState<ReviewDraft>(() => ({ ...NO_DRAFT, ...readDraft<ReviewDraft>(name) }))
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<string>()
  const sent = useRef(false)
  const { endorserInfo, requesterInfo, source, skills } = review
  const unanswered = countUnanswered(review, draft)
  const readOnly = token === undefined
  const student = requesterInfo.name

  return (
    <form class="stack" onSubmit={send} noValidate>
      <div class="stack-tight">
        <h1>{words.title(student)}</h1>
        <p class="soft">
          {words.intro(endorserInfo.name)} {words.askedAs[review.endorsementType] ?? ''}
        </p>
      </div>
      {readOnly && (
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
              disabled={readOnly || sending}
              decision={draft.decisions[skill.skillId] ?? {}}
              onChange={(decision) =>
                change({ ...draft, decisions: { ...draft.decisions, [skill.skillId]: decision } })
              }
            />
          ))}
        </section>
      )}
      <div class="stack-tight">
        {error && (
          <p class="notice bad" role="alert">
            {error}
          </p>
        )}
        <SubmitButton class="primary wide" busy={sending} ready={!readOnly && (draft.declining || unanswered === 0)}>
          {sending ? words.sending : draft.declining ? words.declineSend : words.send}
        </SubmitButton>
        <p class="soft small center" aria-live="polite">
          {!draft.declining && unanswered > 0 && !readOnly ? words.unanswered(unanswered) : ''}
        </p>
        <div class="center">
          <button
            type="button"
            class="plain"
            disabled={readOnly || sending}
            onClick={() => change({ ...draft, declining: !draft.declining })}
          >
            {draft.declining ? words.back : words.decline}
          </button>
        </div>
        <p class="soft small center">
          {words.privacy(student)}{' '}
          {words.answerUntil(new Date(review.expiresAt).toLocaleDateString(words.locale, { dateStyle: 'long' }))}
        </p>
      </div>
    </form>
  )

  function change(next: ReviewDraft) {
    setDraft(next)
    setError(undefined)
    saveDraft(name, next)
  }

  async function send(event: Event) {
    event.preventDefault()
    if (sending || readOnly) return
    if (draft.declining && !draft.reason.trim()) return setError(words.needReason)
    setSending(true)
    setError(undefined)
    const result = await call(paths.submitReview, { body: reviewBody(review, draft, token!) })
    setSending(false)
    // An earlier attempt may have succeeded although its response was lost.
    const arrived = result.ok || (result.code === 'ALREADY_SUBMITTED' && sent.current)
    sent.current = true
    if (arrived) {
      deleteDraft(name)
      onEnd(draft.declining ? 'declined' : 'thanks')
    } else if (result.ok === false) {
      if (result.code === 'ALREADY_SUBMITTED') onEnd('alreadySubmitted')
      else if (result.code === 'LINK_EXPIRED') onEnd('expired')
      else if (result.code === 'INVALID_TOKEN') setError(words.wrongToken)
      else if (result.code === OFFLINE) setError(words.offline)
      else if (result.status === 429) setError(words.rateLimited)
      else setError(result.status === 400 ? result.message : words.serverError)
    }
  }
}

function Ending({ end, words, student }: { end: End; words: ReviewerTexts; student: string }) {
  const [title, text] = {
    thanks: [words.thanks, words.thanksText(student)],
    declined: [words.declined, words.declinedText(student)],
    alreadySubmitted: [words.alreadySubmitted, words.alreadySubmittedText],
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

function LoadError({ text, retry, onRetry }: { text: string; retry: string; onRetry: () => void }) {
  return (
    <section class="card stack-tight" role="alert">
      <p>{text}</p>
      <button type="button" onClick={onRetry}>
        {retry}
      </button>
    </section>
  )
}

/** Placeholder layout while loading, to avoid layout shifts. */
function Skeleton() {
  return (
    <div class="stack" aria-hidden="true">
      <h1 class="waiting">Confirm skills</h1>
      <div class="card stack-tight">
        <p class="waiting">Work experience</p>
        <p class="waiting">Job title</p>
      </div>
      <div class="card stack-tight">
        <p class="waiting">Skill name</p>
        <div class="choices two">
          <span class="choice waiting">Yes</span>
          <span class="choice waiting">No</span>
        </div>
      </div>
    </div>
  )
}
