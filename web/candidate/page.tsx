import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Answers } from './answers.tsx'
import { isAnswer, lastOf, openTalk, storeOf } from './conversation-store.ts'
import type { Exchange, Labels, View, Wrong } from './view.ts'

/** Away for longer than this, somebody may have gone on with another device. */
const LONG_AWAY = 60_000

export function CandidatePage({ token, first }: { token: string; first: View }) {
  const [, setTurn] = useState(0)
  const talk = useMemo(() => openTalk(token, first, () => setTurn((turn) => turn + 1)), [])
  const answered = useRef(false)
  const [sure, setSure] = useState(false)
  const { view, deeds, prompts, trouble, gone, done } = talk.now()
  const { labels, language, title, company } = view
  const question = lastOf(prompts)
  const open = question?.kind !== 'notice' && !gone
  const wish = deeds.find((deed) => !isAnswer(deed))
  const pending = deeds.filter(isAnswer).filter(({ shown }) => shown !== '')
  const main = useRef<HTMLElement>(null)
  const stop = useRef<HTMLButtonElement>(null)
  const seen = `${question?.step} ${question?.text} ${open}`

  useEffect(() => keepInTouch(talk), [])
  useEffect(() => {
    document.documentElement.lang = language
    document.title = `${title} · ${company}`
  }, [language])
  useEffect(() => {
    if (!open && answered.current) main.current!.focus({ preventScroll: true })
  }, [open])
  useLayoutEffect(() => showNewest(main.current!), [seen, sure])

  return (
    <div class="talk">
      <header class="head">
        <div>
          <h1 dir="auto">{title}</h1>
          <p dir="auto">{company}</p>
        </div>
        {view.languages.length > 1 && !gone && (
          <select
            aria-label={labels.language}
            value={wish && 'language' in wish ? wish.language : language}
            onChange={(event) => {
              answered.current = false
              talk.speak(event.currentTarget.value)
            }}
          >
            {view.languages.map(({ code, name }) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        )}
        {asksForWork(question?.ask) && <Progress labels={labels} done={done} total={view.progress.total} />}
      </header>
      <main class={open || !prompts || view.past.length > 0 ? '' : 'alone'} tabIndex={-1} ref={main}>
        <div class="log" role="log" aria-live="polite" aria-relevant="additions">
          {view.past.map((exchange, index) => (
            <Said key={index} exchange={exchange} labels={labels} />
          ))}
          {pending.map(({ id, asked, shown }) => (
            <Said key={id} exchange={{ asked, answer: shown }} labels={labels} pending />
          ))}
          {gone ? (
            <p class="said us last quiet">{labels.unknown}</p>
          ) : prompts ? (
            prompts.map(({ step, text, kind }, index) => (
              <p
                key={`${step} ${index} ${text}`}
                class={`said us ${open ? (kind === 'notice' ? '' : 'now') : `last ${view.status === 'closed' ? 'quiet' : ''}`}`}
                dir="auto"
              >
                {text}
              </p>
            ))
          ) : (
            <p class="said us dots">
              <span class="hidden-text">{labels.loading}</span>
            </p>
          )}
        </div>
        <div>
          {open && question && (
            <Answers
              key={`${question.step} ${question.text}`}
              prompt={question}
              labels={labels}
              language={language}
              store={storeOf(token)}
              moved={answered.current}
              onAnswer={after(talk.answer)}
              onBack={deeds.length === 0 ? after(talk.back) : undefined}
            />
          )}
        </div>
        <div aria-live="polite">
          {trouble && deeds.length > 0 && (
            <div class="notice row between">
              <span>{labels[trouble]}</span>
              <button type="button" onClick={talk.sync}>
                {labels.retry}
              </button>
            </div>
          )}
        </div>
      </main>
      <footer>
        {sure ? (
          <Sure
            labels={labels}
            onYes={() => {
              setSure(false)
              after(talk.stop)()
            }}
            onNo={() => {
              setSure(false)
              setTimeout(() => stop.current?.focus())
            }}
          />
        ) : (
          mayStop(view, question?.text) &&
          !gone && (
            <button type="button" class="plain small" ref={stop} onClick={() => setSure(true)}>
              {labels.stop}
            </button>
          )
        )}
      </footer>
    </div>
  )

  function after<Given extends unknown[]>(act: (...given: Given) => void) {
    return (...given: Given) => {
      answered.current = true
      act(...given)
    }
  }
}

/** The page of a link that leads nowhere. */
export function WrongPage({ labels, wrong }: Wrong) {
  return (
    <div class="talk">
      <main class="alone">
        <div class="log">
          <p class="said us last quiet">{labels[wrong]}</p>
        </div>
        {wrong === 'failed' && (
          <button type="button" class="big" onClick={() => location.reload()}>
            {labels.retry}
          </button>
        )}
      </main>
    </div>
  )
}

function Said({
  exchange: { asked, answer },
  labels,
  pending,
}: {
  exchange: Exchange
  labels: Labels
  pending?: boolean
}) {
  return (
    <>
      {asked && (
        <p class="said us" dir="auto">
          {asked}
        </p>
      )}
      <p class={`said you ${pending ? 'pending' : ''}`} dir="auto">
        <span class="hidden-text">{labels.answer}: </span>
        {answer}
      </p>
    </>
  )
}

function Progress({ labels, done, total }: { labels: Labels; done: number; total: number }) {
  const number = Math.min(done + 1, total)
  const text = labels.progress.replace('{n}', String(number)).replace('{total}', String(total))
  return (
    <div class="progress">
      <div
        class="bar"
        role="progressbar"
        aria-label={text}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={number}
        aria-valuetext={text}
      >
        <svg aria-hidden="true" width="100%" height="100%">
          <rect width={`${(number / total) * 100}%`} height="100%" />
        </svg>
      </div>
      <span class="small soft" aria-hidden="true">
        {text}
      </span>
    </div>
  )
}

function Sure({ labels, onYes, onNo }: { labels: Labels; onYes: () => void; onNo: () => void }) {
  const group = useRef<HTMLDivElement>(null)
  useEffect(() => group.current!.focus(), [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in older browsers
    <div class="card stack-tight sure" role="group" aria-labelledby="sure" tabIndex={-1} ref={group}>
      <p id="sure">{labels.stopSure}</p>
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

function asksForWork(ask: string | undefined) {
  return ask !== undefined && ask !== 'consent' && ask !== 'language' && ask !== 'ended'
}

/** Also when all is said: who is through may still want to hear no more. */
function mayStop({ status, ending, labels }: View, shown: string | undefined) {
  return status !== 'closed' && ending !== 'stopped' && shown !== labels.stopped
}

/** The newest question as a whole; where it is higher than the screen, its beginning. */
function showNewest(main: HTMLElement) {
  scrollTo(0, document.documentElement.scrollHeight)
  const said = main.querySelectorAll('.log > *')
  const newest = said[said.length - 1]
  const head = document.querySelector('.head')?.getBoundingClientRect().bottom ?? 0
  const top = newest?.getBoundingClientRect().top ?? head
  if (top < head + 8) scrollBy(0, top - head - 8)
}

/** Sends what waits when the connection comes back, and looks what has happened elsewhere. */
function keepInTouch({ sync, refresh, now }: ReturnType<typeof openTalk>) {
  let away = 0
  addEventListener('online', sync)
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) away = Date.now()
    else if (now().deeds.length > 0) void sync()
    else if (Date.now() - away > LONG_AWAY) void refresh()
  })
  void sync()
}
