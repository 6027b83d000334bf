import { useEffect, useRef, useState } from 'preact/hooks'
import type { CandidatePrompt, ConversationChoice, PageLabels } from '../api-types/candidate.ts'
import { deleteDraft, readDraft, saveDraft } from '../drafts.ts'
import type { Answer } from './conversation-store.ts'
import { canDictate, dictate } from './dictation.ts'

/** Taps within this time of a new question belong to the previous one and are ignored. */
const DOUBLE_TAP_MS = 400

interface Props {
  prompt: CandidatePrompt
  labels: PageLabels
  language: string
  /** Start of the names of the drafts of free-text answers. */
  draftPrefix: string
  /** True if the question followed an answer rather than the page load. */
  moved: boolean
  onAnswer: (answer: Answer) => void
  /** Undefined while answers are being sent. */
  onBack: (() => void) | undefined
}

/** Answer controls of one question; mounted again for each question. */
export function Answers({ prompt, labels, language, draftPrefix, moved, onAnswer, onBack }: Props) {
  const [ready, setReady] = useState(!moved)
  const group = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The pressed button no longer exists: move the focus here for keyboard and screen reader users.
    if (moved) group.current!.focus({ preventScroll: true })
    const timer = setTimeout(() => setReady(true), DOUBLE_TAP_MS)
    return () => clearTimeout(timer)
  }, [])
  const { kind, choices, back } = prompt
  const skip = choices.filter(({ value }) => value === 'skip')
  const main = choices.filter(({ value }) => value !== 'skip')

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in older browsers
    <div class={`answers ${moved ? 'moved' : ''}`} role="group" aria-label={labels.answer} tabIndex={-1} ref={group}>
      {kind === 'words' ? (
        <TextAnswer
          prompt={prompt}
          labels={labels}
          language={language}
          draftPrefix={draftPrefix}
          ready={ready}
          onAnswer={onAnswer}
        />
      ) : (
        <div class={kind === 'yes_no' ? 'pair' : 'list'}>
          {main.map((choice) =>
            choiceButton(choice, prompt.ask === 'consent' && choice.value === 'yes' ? 'big primary' : 'big'),
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
          {skip.map((choice) => choiceButton(choice, 'plain'))}
        </div>
      )}
    </div>
  )

  function choiceButton({ value, label }: ConversationChoice, className: string) {
    return (
      <button
        type="button"
        key={value}
        class={className}
        lang={prompt.ask === 'language' ? value : undefined}
        aria-disabled={!ready}
        onClick={() => ready && onAnswer({ value, shown: label })}
      >
        {label}
      </button>
    )
  }
}

/** The server truncates longer answers. */
const MAX_ANSWER_LENGTH = 2000

function TextAnswer({
  prompt,
  labels,
  language,
  draftPrefix,
  ready,
  onAnswer,
}: Omit<Props, 'moved' | 'onBack'> & { ready: boolean }) {
  const draftKey = `${draftPrefix} ${prompt.ask}`
  const [text, setText] = useState(() => readDraft<string>(draftKey) ?? '')
  const [stopDictation, setStopDictation] = useState<() => void>()
  useEffect(() => () => stopDictation?.(), [stopDictation])
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
        maxLength={MAX_ANSWER_LENGTH}
        dir="auto"
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <div class={canDictate ? 'pair' : 'list'}>
        {canDictate && (
          <button type="button" class="big speak" aria-pressed={stopDictation !== undefined} onClick={listen}>
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
    saveDraft(draftKey, next)
  }

  function send(event: Event) {
    event.preventDefault()
    if (empty) return area.current!.focus()
    if (!ready) return
    deleteDraft(draftKey)
    onAnswer({ text: text.trim(), shown: text.trim() })
  }

  function listen() {
    if (stopDictation) return stopDictation()
    const before = text.trim()
    const stop = dictate(
      language,
      (transcript) => write(`${before} ${transcript}`.trim()),
      () => setStopDictation(undefined),
    )
    setStopDictation(() => stop)
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
