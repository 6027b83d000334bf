import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CandidatePageError, CandidateView, ConversationExchange, PageLabels } from '../api-types/candidate.ts'
import { BrandFooter, BrandLogo } from '../branding/brand.tsx'
import { Answers } from './answers.tsx'
import { draftName, isAnswer, lastItem, openConversation } from './conversation-store.ts'
import type { CandidateCredentialOffer } from './credentials.tsx'

/** After this time in the background the page reloads the conversation, which may have continued on another device. */
const REFRESH_AFTER_AWAY_MS = 60_000

/** Longer questions are not bold: a paragraph in bold is hard to read, above all in Devanagari. */
const MAX_BOLD_LENGTH = 160

interface Props {
  token: string
  initialView: CandidateView
  /** Called with the kind of the ending when the conversation has ended, also if it had ended before. */
  onEnded?: (ending: string) => void
  /** The text and the action of an embedded page that has expired. */
  expiry?: { text: string; language: string; onExpired: () => void }
}

export function CandidatePage({ token, initialView, onEnded, expiry }: Props) {
  const [, setRenderCount] = useState(0)
  const conversation = useMemo(
    () => openConversation(token, initialView, () => setRenderCount((count) => count + 1), expiry?.onExpired),
    [],
  )
  const answered = useRef(false)
  const [CredentialOffer, setCredentialOffer] = useState<typeof CandidateCredentialOffer>()
  const [confirmingStop, setConfirmingStop] = useState(false)
  const { view, pendingActions, prompts, sendProblem, linkInvalid, expired, answeredCount } =
    conversation.currentState()
  const { labels, language, title, company, brand } = view
  const question = lastItem(prompts)
  /** Whether the page expired before an answer was sent. */
  const isUnsent = expired && pendingActions.some(isAnswer)
  const isOpen = question?.kind !== 'notice' && !linkInvalid && !isUnsent
  const pendingLanguage = pendingActions.find((action) => !isAnswer(action))
  const pendingAnswers = pendingActions.filter(isAnswer).filter(({ shown }) => shown !== '')
  const main = useRef<HTMLElement>(null)
  const stopButton = useRef<HTMLButtonElement>(null)
  const newestQuestion = `${question?.step} ${question?.text} ${isOpen}`

  useEffect(() => syncOnReconnect(conversation), [])
  useEffect(() => {
    document.documentElement.lang = language
    document.title = `${title} · ${company}`
  }, [language])
  useEffect(() => {
    if (!isOpen && answered.current) main.current!.focus({ preventScroll: true })
  }, [isOpen])
  useEffect(() => {
    if (view.status !== 'open') onEnded?.(view.ending ?? view.status)
  }, [view.status])
  const canGetCredentials = view.status === 'ended' && view.ending === 'completed' && !linkInvalid
  useEffect(() => {
    if (canGetCredentials)
      import('./credentials.tsx').then(
        (module) => setCredentialOffer(() => module.CandidateCredentialOffer),
        () => {}, // the page is complete without the offer
      )
  }, [canGetCredentials])
  useLayoutEffect(() => scrollToNewest(main.current!), [newestQuestion, confirmingStop])

  return (
    <div class="conversation">
      <Head title={title} company={company} brand={brand}>
        {view.languages.length > 1 && !linkInvalid && !expired && (
          <select
            aria-label={labels.language}
            value={pendingLanguage && 'language' in pendingLanguage ? pendingLanguage.language : language}
            onChange={(event) => {
              answered.current = false
              conversation.setLanguage(event.currentTarget.value)
            }}
          >
            {view.languages.map(({ code, name }) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        )}
        {isNumberedQuestion(question?.ask) && (
          <Progress labels={labels} answeredCount={answeredCount} total={view.progress.total} />
        )}
      </Head>
      <main class={isOpen || isUnsent || !prompts || view.past.length > 0 ? '' : 'centred'} tabIndex={-1} ref={main}>
        <div class="log" role="log" aria-live="polite" aria-relevant="additions">
          {view.past.map((exchange, index) => (
            <ExchangeBubbles key={index} exchange={exchange} labels={labels} />
          ))}
          {pendingAnswers.map(({ id, asked, shown }) => (
            <ExchangeBubbles key={id} exchange={{ asked, answer: shown }} labels={labels} pending />
          ))}
          {linkInvalid ? (
            <p class="message us closing quiet">{labels.unknown}</p>
          ) : isUnsent ? null : prompts ? (
            prompts.map(({ step, text, kind }, index) => (
              <p
                key={`${step} ${index} ${text}`}
                class={`message us ${isOpen ? (kind === 'notice' ? '' : `current ${text.length > MAX_BOLD_LENGTH ? 'long' : ''}`) : `closing ${view.status === 'closed' ? 'quiet' : ''}`}`}
                dir="auto"
              >
                {text}
              </p>
            ))
          ) : (
            <p class="message us dots">
              <span class="hidden-text">{labels.loading}</span>
            </p>
          )}
        </div>
        <div>
          {isOpen && question && (
            <Answers
              key={`${question.step} ${question.text}`}
              prompt={question}
              labels={labels}
              language={language}
              draftPrefix={draftName(token)}
              followsAnswer={answered.current}
              onAnswer={markAnswered(conversation.answer)}
              onBack={pendingActions.length === 0 ? markAnswered(conversation.goBack) : undefined}
            />
          )}
        </div>
        {canGetCredentials && CredentialOffer && <CredentialOffer token={token} language={language} />}
        <div aria-live="polite">
          {expired && (
            <p class="notice" lang={expiry!.language}>
              {expiry!.text}
            </p>
          )}
          {sendProblem && pendingActions.length > 0 && (
            <div class="notice row between">
              <span>{labels[sendProblem]}</span>
              <button type="button" onClick={conversation.sync}>
                {labels.retry}
              </button>
            </div>
          )}
        </div>
      </main>
      <footer>
        {confirmingStop ? (
          <StopConfirmation
            labels={labels}
            onYes={() => {
              setConfirmingStop(false)
              markAnswered(conversation.optOut)()
            }}
            onNo={() => {
              setConfirmingStop(false)
              setTimeout(() => stopButton.current?.focus())
            }}
          />
        ) : (
          canStop(view, question?.text) &&
          !linkInvalid &&
          !expired && (
            <button type="button" class="plain small" ref={stopButton} onClick={() => setConfirmingStop(true)}>
              {labels.stop}
            </button>
          )
        )}
        <PrivacyLink token={token} labels={labels} />
        <BrandFooter brand={brand} />
      </footer>
    </div>
  )

  function markAnswered<Args extends unknown[]>(act: (...args: Args) => void) {
    return (...args: Args) => {
      answered.current = true
      act(...args)
    }
  }
}

/** Page shown for an invalid or expired link, and while the organisation is paused. */
export function InvalidLinkPage(props: CandidatePageError & { token: string }) {
  const { token, labels, wrong, help, title, company, brand, contact_email: email } = props
  const Message = company ? 'p' : 'h1' // the company is the heading of the page, if it is known
  return (
    <div class="conversation">
      {company && <Head title={title} company={company} brand={brand} />}
      <main class="centred">
        <div class="log">
          <Message class="message us closing quiet">{labels[wrong]}</Message>
          {help && wrong !== 'paused' && (
            <p class="message us" dir="auto">
              {help}
              {email && (
                <>
                  {' '}
                  <a href={`mailto:${email}`}>{email}</a>
                </>
              )}
            </p>
          )}
        </div>
        {(wrong === 'failed' || wrong === 'paused') && (
          <button type="button" class="big" onClick={() => location.reload()}>
            {labels.retry}
          </button>
        )}
      </main>
      {company && (
        <footer>
          {wrong !== 'gone' && <PrivacyLink token={token} labels={labels} />}
          <BrandFooter brand={brand} />
        </footer>
      )}
    </div>
  )
}

interface HeadProps extends Pick<CandidatePageError, 'title' | 'brand'> {
  company: string
  children?: ComponentChildren
}

/** The job and the company, and the organisation that asks on its behalf if it has another name. */
function Head({ title, company, brand, children }: HeadProps) {
  const companyLine = brand && brand.name !== company ? `${company} · ${brand.name}` : company
  return (
    <header class="head">
      <BrandLogo brand={brand} />
      <div>
        <h1 dir="auto">{title ?? companyLine}</h1>
        {title && <p dir="auto">{companyLine}</p>}
      </div>
      {children}
    </header>
  )
}

/** Links to the notice about personal data. The token is in the fragment, which is not sent to the server. */
function PrivacyLink({ token, labels }: { token: string; labels: PageLabels }) {
  return (
    <a class="small" href={`/your-data/candidate#token=${token}`}>
      {labels.privacy}
    </a>
  )
}

function ExchangeBubbles({
  exchange: { asked, answer },
  labels,
  pending,
}: {
  exchange: ConversationExchange
  labels: PageLabels
  pending?: boolean
}) {
  return (
    <>
      {asked && (
        <p class="message us" dir="auto">
          {asked}
        </p>
      )}
      <p class={`message you ${pending ? 'pending' : ''}`} dir="auto">
        <span class="hidden-text">{labels.answer}: </span>
        {answer}
      </p>
    </>
  )
}

function Progress({ labels, answeredCount, total }: { labels: PageLabels; answeredCount: number; total: number }) {
  const questionNumber = Math.min(answeredCount + 1, total)
  const progressText = labels.progress.replace('{n}', String(questionNumber)).replace('{total}', String(total))
  return (
    <div class="progress">
      <div
        class="bar"
        role="progressbar"
        aria-label={progressText}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={questionNumber}
        aria-valuetext={progressText}
      >
        <svg aria-hidden="true" width="100%" height="100%">
          <rect width={`${(questionNumber / total) * 100}%`} height="100%" />
        </svg>
      </div>
      <span class="small soft" aria-hidden="true">
        {progressText}
      </span>
    </div>
  )
}

function StopConfirmation({ labels, onYes, onNo }: { labels: PageLabels; onYes: () => void; onNo: () => void }) {
  const group = useRef<HTMLDivElement>(null)
  useEffect(() => group.current!.focus(), [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in older browsers
    <div
      class="card stack-tight stop-confirmation"
      role="group"
      aria-labelledby="stop-question"
      tabIndex={-1}
      ref={group}
    >
      <p id="stop-question">{labels.stopSure}</p>
      <div class="pair">
        <button type="button" class="big" onClick={onNo}>
          {labels.no}
        </button>
        <button type="button" class="big no" onClick={onYes}>
          {labels.yes}
        </button>
      </div>
    </div>
  )
}

function isNumberedQuestion(ask: string | undefined) {
  return ask !== undefined && ask !== 'consent' && ask !== 'language' && ask !== 'later' && ask !== 'ended'
}

/** Returns whether to show the opt-out button. It is also shown after the last question, to opt out of further messages. */
function canStop({ status, ending, labels }: CandidateView, shown: string | undefined) {
  return status !== 'closed' && ending !== 'stopped' && shown !== labels.stopped
}

/** Scrolls the newest question fully into view, or to its start if it is taller than the screen. */
function scrollToNewest(main: HTMLElement) {
  scrollTo(0, document.documentElement.scrollHeight)
  const messages = main.querySelectorAll('.log > *')
  const newest = messages[messages.length - 1]
  const headBottom = document.querySelector('.head')?.getBoundingClientRect().bottom ?? 0
  const newestTop = newest?.getBoundingClientRect().top ?? headBottom
  if (newestTop < headBottom + 8) scrollBy(0, newestTop - headBottom - 8)
}

/** Sends pending answers when the connection returns, and reloads after a long time in the background. */
function syncOnReconnect({ sync, refresh, currentState }: ReturnType<typeof openConversation>) {
  let hiddenAt = 0
  addEventListener('online', sync)
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) hiddenAt = Date.now()
    else if (currentState().pendingActions.length > 0) void sync()
    else if (Date.now() - hiddenAt > REFRESH_AFTER_AWAY_MS) void refresh()
  })
  void sync()
}
