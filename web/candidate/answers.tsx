import { useEffect, useRef, useState } from 'preact/hooks'
import { dropDraft, keepDraft, readDraft } from '../drafts.ts'
import type { Answer } from './conversation-store.ts'
import { canDictate, dictate } from './dictation.ts'
import type { Choice, Labels, Prompt } from './view.ts'

/** A second tap that comes sooner was meant for the question before. */
const DOUBLE_TAP = 400

interface Props {
  prompt: Prompt
  labels: Labels
  language: string
  /** Where a text that is being written is kept. */
  store: string
  /** The question came after an answer, not with the page. */
  moved: boolean
  onAnswer: (answer: Answer) => void
  /** Undefined while answers are on their way. */
  onBack: (() => void) | undefined
}

/** The ways to answer one question; made anew for each. */
export function Answers({ prompt, labels, language, store, moved, onAnswer, onBack }: Props) {
  const [ready, setReady] = useState(!moved)
  const group = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The button that was pressed is gone: whoever uses a keyboard or a screen reader goes on here.
    if (moved) group.current!.focus({ preventScroll: true })
    const timer = setTimeout(() => setReady(true), DOUBLE_TAP)
    return () => clearTimeout(timer)
  }, [])
  const { kind, choices, back } = prompt
  const skip = choices.filter(({ value }) => value === 'skip')
  const main = choices.filter(({ value }) => value !== 'skip')

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in older browsers
    <div class={`answers ${moved ? 'moved' : ''}`} role="group" aria-label={labels.answer} tabIndex={-1} ref={group}>
      {kind === 'words' ? (
        <Words prompt={prompt} labels={labels} language={language} store={store} ready={ready} onAnswer={onAnswer} />
      ) : (
        <div class={kind === 'yes_no' ? 'pair' : 'list'}>
          {main.map((choice) =>
            press(choice, prompt.ask === 'consent' && choice.value === 'yes' ? 'big primary' : 'big'),
          )}
        </div>
      )}
      {(skip.length > 0 || back) && (
        <div class="row between">
          {back ? (
            <button type="button" class="plain" aria-disabled={!ready || !onBack} onClick={() => ready && onBack?.()}>
              {labels.back}
            </button>
          ) : (
            <span />
          )}
          {skip.map((choice) => press(choice, 'plain'))}
        </div>
      )}
    </div>
  )

  function press({ value, label }: Choice, look: string) {
    return (
      <button
        type="button"
        key={value}
        class={look}
        lang={prompt.ask === 'language' ? value : undefined}
        aria-disabled={!ready}
        onClick={() => ready && onAnswer({ value, shown: label })}
      >
        {label}
      </button>
    )
  }
}

/** Longer answers are cut off by the server. */
const MOST_WORDS = 2000

function Words({
  prompt,
  labels,
  language,
  store,
  ready,
  onAnswer,
}: Omit<Props, 'moved' | 'onBack'> & { ready: boolean }) {
  const draft = `${store} ${prompt.ask}`
  const [text, setText] = useState(() => readDraft<string>(draft) ?? '')
  const [ending, setEnding] = useState<() => void>()
  useEffect(() => () => ending?.(), [ending])
  const area = useRef<HTMLTextAreaElement>(null)
  const empty = text.trim() === ''

  return (
    <form class="stack-tight" onSubmit={send}>
      <label class="soft small" for="words" id="hint">
        {labels.hint}
      </label>
      <textarea
        id="words"
        ref={area}
        rows={3}
        maxLength={MOST_WORDS}
        dir="auto"
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <div class={canDictate ? 'pair' : 'list'}>
        {canDictate && (
          <button type="button" class="big speak" aria-pressed={ending !== undefined} onClick={listen}>
            <Microphone />
            {labels.speak}
          </button>
        )}
        <button type="submit" class="big primary" aria-disabled={!ready}>
          {labels.send}
        </button>
      </div>
    </form>
  )

  function write(next: string) {
    setText(next)
    keepDraft(draft, next)
  }

  function send(event: Event) {
    event.preventDefault()
    if (empty) return area.current!.focus()
    if (!ready) return
    dropDraft(draft)
    onAnswer({ text: text.trim(), shown: text.trim() })
  }

  function listen() {
    if (ending) return ending()
    const before = text.trim()
    const end = dictate(
      language,
      (heard) => write(`${before} ${heard}`.trim()),
      () => setEnding(undefined),
    )
    setEnding(() => end)
  }
}

function Microphone() {
  return (
    <svg
      aria-hidden="true"
      width="20"
      height="20"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
    >
      <rect x="7" y="2" width="6" height="10" rx="3" />
      <path d="M4 9.5a6 6 0 0 0 12 0M10 15.5V18" stroke-linecap="round" />
    </svg>
  )
}
