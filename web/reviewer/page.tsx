import { useEffect, useRef, useState } from 'preact/hooks'
import { call, OFFLINE } from '../api.ts'
import type { ProofFileContent, ReviewPage } from '../api-types/verification.ts'
import { embeddedBrand } from '../branding/apply-brand.ts'
import { BrandFooter, BrandName } from '../branding/brand.tsx'
import { deleteDraft, readDraft, saveDraft } from '../drafts.ts'
import { initialLanguage, saveLanguage } from '../languages.ts'
import { paths } from '../paths.ts'
import { NoticeDetails, YourDataLink } from '../privacy/consent-card.tsx'
import { yourDataCalls } from '../privacy/your-data-calls.ts'
import { LanguageSwitch } from '../ui/language-switch.tsx'
import { formatDatesIn } from '../ui/month-dates.ts'
import { ProofFile } from '../ui/proof-file.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { countUnanswered, NO_DRAFT, type ReviewDraft, reviewBody } from './review.ts'
import { SkillCard } from './skill-card.tsx'
import { type ReviewerTexts, texts } from './texts.ts'

type ReviewEnding = 'thanks' | 'declined' | 'alreadySubmitted' | 'withdrawn' | 'expired' | 'erased' | 'notFound'

export function ReviewerPage({ id, token }: { id: string; token: string | undefined }) {
  const [language, setLanguage] = useState(initialLanguage)
  const [review, setReview] = useState<ReviewPage>()
  const [end, setEnd] = useState<ReviewEnding>()
  /** The decisions that were just sent. */
  const [sentDecisions, setSentDecisions] = useState<ReviewDraft['decisions']>()
  const [error, setError] = useState<string>()
  const [brand] = useState(embeddedBrand)
  const pageTexts = texts[language]
  useEffect(() => saveLanguage(language), [language])
  useEffect(() => void load(), [])

  return (
    <div class="sheet">
      <header class="top">
        <BrandName brand={brand} />
        <LanguageSwitch language={language} onChoose={setLanguage} />
      </header>
      <main class="stack" id="main">
        {end ? (
          <>
            <Ending key={end} end={end} pageTexts={pageTexts} student={review?.requesterInfo.name ?? ''} />
            {end === 'thanks' && review && sentDecisions && (
              <SentAnswer review={review} decisions={sentDecisions} pageTexts={pageTexts} />
            )}
            {(end === 'alreadySubmitted' || end === 'thanks') && review?.withdrawable && token !== undefined && (
              <WithdrawalForm review={review} token={token} pageTexts={pageTexts} onEnd={setEnd} />
            )}
            {token !== undefined && <YourDataLink kind="review" token={token} label={pageTexts.yourData} />}
          </>
        ) : review ? (
          <ReviewForm review={review} token={token} pageTexts={pageTexts} onEnd={endReview} />
        ) : error ? (
          <LoadError
            text={pageTexts[error as 'offline' | 'serverError' | 'rateLimited' | 'paused']}
            retry={pageTexts.retry}
            onRetry={load}
          />
        ) : (
          <Skeleton />
        )}
      </main>
      <BrandFooter brand={brand} />
    </div>
  )

  async function endReview(ending: ReviewEnding, decisions?: ReviewDraft['decisions']) {
    setEnd(ending)
    setSentDecisions(decisions)
    if (ending !== 'thanks') return
    // The review can now be withdrawn, until a later day.
    const result = await call<ReviewPage>(paths.verifyPage(id))
    if (result.ok) setReview(result.data)
  }

  async function load() {
    setError(undefined)
    const result = await call<ReviewPage>(paths.verifyPage(id))
    if (result.ok) {
      setReview(result.data)
      const { status } = result.data
      if (status === 'completed' || status === 'declined') setEnd('alreadySubmitted')
      if (status === 'expired') setEnd('expired')
      document.title = `${texts.en.title(result.data.requesterInfo.name)} · ${brand?.name ?? 'Attestry'}`
    } else if (result.code === 'LINK_EXPIRED') setEnd('expired')
    else if (result.code === 'DATA_ERASED') setEnd('erased')
    else if (result.status >= 400 && result.status < 429) setEnd('notFound')
    else if (result.code === 'SERVICE_DISABLED') setError('paused')
    else setError(result.code === OFFLINE ? 'offline' : result.status === 429 ? 'rateLimited' : 'serverError')
  }
}

interface FormProps {
  review: ReviewPage
  token: string | undefined
  pageTexts: ReviewerTexts
  onEnd: (end: ReviewEnding, decisions?: ReviewDraft['decisions']) => void
}

function ReviewForm({ review, token, pageTexts, onEnd }: FormProps) {
  const draftKey = `review ${review.serviceVerificationId}`
  const [draft, setDraft] = useState<ReviewDraft>(() => ({ ...NO_DRAFT, ...readDraft<ReviewDraft>(draftKey) }))
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<string>()
  const wasSent = useRef(false)
  const { endorserInfo, requesterInfo, source, skills } = review
  const unansweredCount = countUnanswered(review, draft)
  const readOnly = token === undefined
  const studentName = requesterInfo.name

  return (
    <form class="stack" onSubmit={sendReview} noValidate>
      <div class="stack-tight">
        <h1>{pageTexts.title(studentName)}</h1>
        <p class="soft">
          {pageTexts.intro(endorserInfo.name)} {pageTexts.askedAs[review.endorsementType] ?? ''}
        </p>
      </div>
      {readOnly && (
        <p class="notice" role="note">
          {pageTexts.noToken}
        </p>
      )}
      <section class="card stack-tight">
        <h2>{pageTexts.whyTitle}</h2>
        <ul class="small reasons">
          {/* A server before an upgrade reports neither the name nor files. */}
          {review.organisationName && (
            <>
              <li dir="auto">{pageTexts.whyWho(studentName, review.organisationName)}</li>
              <li dir="auto">{pageTexts.whyResult(studentName, review.organisationName)}</li>
            </>
          )}
          <li>{pageTexts.whyTime(lastDayOf(review, pageTexts))}</li>
        </ul>
      </section>
      <section class="card stack-tight" aria-label={pageTexts.source[source.type]}>
        <span class="tag">{pageTexts.source[source.type] ?? source.type}</span>
        <h2>{source.title}</h2>
        {source.subtitle && <p>{source.subtitle}</p>}
        {source.meta && <p class="soft small">{formatDatesIn(source.meta, pageTexts.locale)}</p>}
        {source.description && <p class="soft small description">{source.description}</p>}
        {review.proofFiles?.length > 0 && (
          <div class="small stack-tight">
            <span class="soft">{pageTexts.files}:</span>
            {review.proofFiles.map((file) =>
              readOnly ? (
                <p key={file.fileId}>{file.name}</p>
              ) : (
                <ProofFile
                  key={file.fileId}
                  file={file}
                  load={() => loadFile(file.fileId)}
                  texts={{ show: pageTexts.showFile, download: pageTexts.downloadFile }}
                />
              ),
            )}
          </div>
        )}
      </section>
      {draft.declining ? (
        <section class="card stack-tight">
          <h2>
            <label for="reason">{pageTexts.declineTitle}</label>
          </h2>
          <p class="soft small">{pageTexts.declineHint(studentName)}</p>
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
            <h2>{pageTexts.skills}</h2>
            <p class="soft small">{pageTexts.skillsHint}</p>
          </div>
          {skills.map((skill) => (
            <SkillCard
              key={skill.skillId}
              skill={skill}
              texts={pageTexts}
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
        <SubmitButton
          class="primary wide"
          busy={sending}
          ready={!readOnly && (draft.declining || unansweredCount === 0)}
        >
          {sending ? pageTexts.sending : draft.declining ? pageTexts.declineSend : pageTexts.send}
        </SubmitButton>
        <p class="soft small center" aria-live="polite">
          {!draft.declining && unansweredCount > 0 && !readOnly ? pageTexts.unanswered(unansweredCount) : ''}
        </p>
        <div class="center">
          <button
            type="button"
            class="plain"
            disabled={readOnly || sending}
            onClick={() => change({ ...draft, declining: !draft.declining })}
          >
            {draft.declining ? pageTexts.back : pageTexts.decline}
          </button>
        </div>
        {!readOnly && <p class="soft small center">{pageTexts.agreement}</p>}
      </div>
      {token !== undefined && (
        <NoticeDetails
          kind="review"
          token={token}
          language={document.documentElement.lang}
          label={pageTexts.yourData}
        />
      )}
    </form>
  )

  async function loadFile(fileId: string): Promise<ProofFileContent | string> {
    const { serviceVerificationId } = review
    const result = await call<ProofFileContent>(paths.reviewFile, { body: { serviceVerificationId, token, fileId } })
    if (result.ok) return result.data
    return result.code === 'INVALID_TOKEN' ? pageTexts.wrongToken : pageTexts.fileFailed
  }

  function change(next: ReviewDraft) {
    setDraft(next)
    setError(undefined)
    saveDraft(draftKey, next)
  }

  async function sendReview(event: Event) {
    event.preventDefault()
    if (sending || readOnly) return
    if (draft.declining && !draft.reason.trim()) return setError(pageTexts.needReason)
    setSending(true)
    setError(undefined)
    // Stored with the version of the notice. The answer is not lost if that fails: the reviewer can send it again.
    const consent = draft.declining || (await yourDataCalls('review', token!).agree(document.documentElement.lang))
    if (consent !== true && !consent.ok && consent.code === OFFLINE) {
      setSending(false)
      return setError(pageTexts.offline)
    }
    const result = await call(paths.submitReview, { body: reviewBody(review, draft, token!) })
    setSending(false)
    // An earlier attempt may have succeeded although its response was lost.
    const isSubmitted = result.ok || (result.code === 'ALREADY_SUBMITTED' && wasSent.current)
    wasSent.current = true
    if (isSubmitted) {
      deleteDraft(draftKey)
      if (draft.declining) onEnd('declined')
      else onEnd('thanks', draft.decisions)
    } else if (result.ok === false) {
      if (result.code === 'ALREADY_SUBMITTED') onEnd('alreadySubmitted')
      else if (result.code === 'LINK_EXPIRED') onEnd('expired')
      else if (result.code === 'DATA_ERASED') onEnd('erased')
      else if (result.code === 'INVALID_TOKEN') setError(pageTexts.wrongToken)
      else if (result.code === OFFLINE) setError(pageTexts.offline)
      else if (result.status === 429) setError(pageTexts.rateLimited)
      else if (result.code === 'SERVICE_DISABLED') setError(pageTexts.paused)
      else setError(result.status === 400 ? result.message : pageTexts.serverError)
    }
  }
}

/** Returns the day on which the link expires. */
function lastDayOf({ expiresAt }: ReviewPage, { locale }: ReviewerTexts): string {
  return new Date(expiresAt).toLocaleDateString(locale, { dateStyle: 'long' })
}

/** Lets the reviewer withdraw the endorsement. Closed at first, because few reviewers need it. */
function WithdrawalForm({ review, token, pageTexts, onEnd }: FormProps & { token: string }) {
  const [reason, setReason] = useState('')
  const [sending, setSending] = useState(false)
  const [error, setError] = useState<string>()
  const lastDay = lastDayOf(review, pageTexts)
  return (
    <details class="card">
      <summary>{pageTexts.withdraw}</summary>
      <form class="stack-tight" onSubmit={(event) => void withdraw(event)} noValidate>
        <p class="soft small">{pageTexts.withdrawHint(review.requesterInfo.name, lastDay)}</p>
        <label for="withdrawal-reason">{pageTexts.withdrawReason}</label>
        <textarea
          id="withdrawal-reason"
          maxLength={500}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        {error && (
          <p class="notice bad" role="alert">
            {error}
          </p>
        )}
        <SubmitButton class="danger wide" busy={sending}>
          {sending ? pageTexts.sending : pageTexts.withdrawSend}
        </SubmitButton>
      </form>
    </details>
  )

  async function withdraw(event: Event) {
    event.preventDefault()
    if (sending) return
    if (!reason.trim()) return setError(pageTexts.withdrawNeedReason)
    setSending(true)
    setError(undefined)
    const { serviceVerificationId } = review
    const body = { serviceVerificationId, token, reason: reason.trim() }
    const result = await call(paths.withdrawEndorsement, { body })
    setSending(false)
    if (result.ok) onEnd('withdrawn')
    else if (result.code === 'LINK_EXPIRED') onEnd('expired')
    else if (result.code === 'DATA_ERASED') onEnd('erased')
    else if (result.code === 'INVALID_TOKEN') setError(pageTexts.wrongToken)
    else setError(result.status === 429 ? pageTexts.rateLimited : pageTexts.withdrawFailed)
  }
}

/** The answer that was just sent, to print or to save. */
function SentAnswer({
  review,
  decisions,
  pageTexts,
}: Pick<FormProps, 'review' | 'pageTexts'> & Pick<ReviewDraft, 'decisions'>) {
  return (
    <section class="card stack-tight" aria-labelledby="answer-title">
      <h2 id="answer-title">{pageTexts.answerTitle(review.requesterInfo.name)}</h2>
      <dl class="facts small">
        {review.skills.map(({ skillId, name }) => {
          const { endorsed, rating } = decisions[skillId] ?? {}
          return (
            <div key={skillId}>
              <dt dir="auto">{name}</dt>
              <dd class={endorsed ? 'good-text' : ''}>
                {endorsed ? pageTexts.confirmed : pageTexts.notConfirmed}
                {endorsed && rating ? ` · ${pageTexts.ratings[rating - 1]}` : ''}
              </dd>
            </div>
          )
        })}
      </dl>
      <button type="button" onClick={() => print()}>
        {pageTexts.print}
      </button>
    </section>
  )
}

function Ending({ end, pageTexts, student }: { end: ReviewEnding; pageTexts: ReviewerTexts; student: string }) {
  const [title, text] = {
    thanks: [pageTexts.thanks, pageTexts.thanksText(student)],
    declined: [pageTexts.declined, pageTexts.declinedText(student)],
    alreadySubmitted: [pageTexts.alreadySubmitted, pageTexts.alreadySubmittedText],
    withdrawn: [pageTexts.withdrawn, pageTexts.withdrawnText(student)],
    expired: [pageTexts.expired, pageTexts.expiredText],
    erased: [pageTexts.erased, pageTexts.erasedText],
    notFound: [pageTexts.notFound, pageTexts.notFoundText],
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
    <div class="stack first-load" aria-hidden="true">
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
