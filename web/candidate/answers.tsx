import { useEffect, useRef, useState } from 'preact/hooks'
import type { CandidatePrompt, ConversationChoice, PageLabels } from '../api-types/candidate.ts'
import { deleteDraft, readDraft, saveDraft } from '../drafts.ts'
import type { Answer } from './conversation-store.ts'
import { canDictate, dictate } from './dictation.ts'

/** Taps within this time after a new question appears were meant for the previous question, and are ignored. */
const DOUBLE_TAP_MS = 400

interface Props {
  prompt: CandidatePrompt
  labels: PageLabels
  language: string
  /** Prefix of the names under which drafts of free-text answers are stored. */
  draftPrefix: string
  /** True if the question appeared after an answer, and not when the page was loaded. */
  followsAnswer: boolean
  onAnswer: (answer: Answer) => void
  /** Returns to the previous question; undefined while answers are being sent. */
  onBack: (() => void) | undefined
}

/** Buttons or text field to answer one question; mounted again for each question. */
export function Answers({ prompt, labels, language, draftPrefix, followsAnswer, onAnswer, onBack }: Props) {
  const [ready, setReady] = useState(!followsAnswer)
  const group = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The pressed button no longer exists: move the focus here for keyboard and screen reader users.
    if (followsAnswer) group.current!.focus({ preventScroll: true })
    const timer = setTimeout(() => setReady(true), DOUBLE_TAP_MS)
    return () => clearTimeout(timer)
  }, [])
  const { kind, choices, back } = prompt
  const isSecondary = ({ value }: { value: string }) => value === 'skip' || value === 'later'
  const skipChoices = choices.filter(isSecondary)
  const mainChoices = choices.filter((choice) => !isSecondary(choice))

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in older browsers
    <div
      class={`answers ${followsAnswer ? 'moved' : ''}`}
      role="group"
      aria-label={labels.answer}
      tabIndex={-1}
      ref={group}
    >
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
          {mainChoices.map((choice) =>
            choiceButton(choice, prompt.ask === 'consent' && choice.value === 'yes' ? 'big primary' : 'big'),
          )}
        </div>
      )}
      {(skipChoices.length > 0 || back) && (
        <div class="row between">
          {back ? (
            <button type="button" class="plain" aria-disabled={!ready || !onBack} onClick={() => ready && onBack?.()}>
              {labels.back}
            </button>
          ) : (
            <span />
          )}
          {skipChoices.map((choice) => choiceButton(choice, 'plain'))}
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

/** Maximum number of characters of an answer. The server truncates longer answers. */
const MAX_ANSWER_LENGTH = 2000

function TextAnswer({
  prompt,
  labels,
  language,
  draftPrefix,
  ready,
  onAnswer,
}: Omit<Props, 'followsAnswer' | 'onBack'> & { ready: boolean }) {
  const draftKey = `${draftPrefix} ${prompt.ask}`
  const [text, setText] = useState(() => readDraft<string>(draftKey) ?? '')
  const [stopDictation, setStopDictation] = useState<() => void>()
  useEffect(() => () => stopDictation?.(), [stopDictation])
  const textArea = useRef<HTMLTextAreaElement>(null)
  const isEmpty = text.trim() === ''

  return (
    <form class="stack-tight" onSubmit={sendAnswer}>
      <label class="soft small" for="words" id="hint">
        {labels.hint}
      </label>
      <textarea
        id="words"
        ref={textArea}
        rows={3}
        maxLength={MAX_ANSWER_LENGTH}
        dir="auto"
        value={text}
        onInput={(event) => changeText(event.currentTarget.value)}
      />
      <div class={canDictate ? 'pair' : 'list'}>
        {canDictate && (
          <button type="button" class="big speak" aria-pressed={stopDictation !== undefined} onClick={toggleDictation}>
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

  function changeText(next: string) {
    setText(next)
    saveDraft(draftKey, next)
  }

  function sendAnswer(event: Event) {
    event.preventDefault()
    if (isEmpty) return textArea.current!.focus()
    if (!ready) return
    deleteDraft(draftKey)
    onAnswer({ text: text.trim(), shown: text.trim() })
  }

  function toggleDictation() {
    if (stopDictation) return stopDictation()
    const textBefore = text.trim()
    const stop = dictate(
      language,
      (transcript) => changeText(`${textBefore} ${transcript}`.trim()),
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
