import { call, OFFLINE } from '../api.ts'
import type { CandidatePrompt, CandidateTurn, CandidateView } from '../api-types/candidate.ts'
import { deleteDraft, readDraft, saveDraft } from '../drafts.ts'
import { paths } from '../paths.ts'

/** An action of the candidate that the server has not confirmed yet. */
export type PendingAction = PendingAnswer | { id: string; language: string }

interface PendingAnswer {
  id: string
  step: number
  ask: string
  value?: string
  text?: string
  /** The question as displayed. */
  asked: string
  /** The answer as displayed. */
  shown: string
}

export interface Conversation {
  view: CandidateView
  /** Actions that the server has not confirmed yet, oldest first. They are stored on the device until then. */
  pendingActions: PendingAction[]
  /** Why the last attempt to send a pending action failed; undefined if it succeeded. */
  sendProblem: 'offline' | 'failed' | 'paused' | undefined
  /** True if the candidate's link became invalid while the page was open. */
  linkInvalid: boolean
  /** True if the embedded page expired while it was open. What the candidate has not sent stays visible. */
  expired: boolean
  /** The prompts to show now; undefined while the next question is still unknown. */
  prompts: CandidatePrompt[] | undefined
  answeredCount: number
}

export interface Answer {
  value?: string
  text?: string
  /** The text to display for this answer. */
  shown: string
}

const FIRST_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 30_000

/**
 * Client-side state of a conversation that also works offline. An answer is stored on the device, the next question is shown if it
 * is already known, and answers are sent one at a time, with retries. The server applies each answer once, by its ID and step.
 */
export function openConversation(
  token: string,
  initialView: CandidateView,
  onChange: (conversation: Conversation) => void,
  /** Called when an embedded page has expired; undefined for other pages, which are reloaded. */
  onExpired?: () => void,
) {
  const url = paths.candidate(token)
  const draftKey = draftName(token)
  const promptsByStep = new Map<number, CandidatePrompt[]>()
  let view = initialView
  let pendingActions = readDraft<PendingAction[]>(draftKey) ?? []
  let sendProblem: Conversation['sendProblem']
  let stopped = false
  let linkInvalid = false
  let expired = false
  let sending = false
  let retryDelayMs = FIRST_RETRY_DELAY_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  applyView(initialView, true)
  dropOutdated()

  return { currentState, answer, goBack, optOut, setLanguage, sync, refresh }

  function currentState(): Conversation {
    const { step, progress } = view
    const nextStep = nextQuestionStep()
    const prompts =
      stopped || pendingActions.some(isStop) ? [noticePrompt(view.labels.stopped)] : promptsByStep.get(nextStep)
    return {
      view,
      pendingActions,
      sendProblem,
      linkInvalid,
      expired,
      prompts,
      answeredCount: Math.min(progress.done + nextStep - step, progress.total),
    }
  }

  /** Returns the step of the next question, as if the pending answers were confirmed. */
  function nextQuestionStep() {
    return pendingActions.filter(isAnswer).reduce((step, action) => {
      return action.value === 'stop' || action.value === 'back' ? step : Math.max(step, action.step + 1)
    }, view.step)
  }

  function answer({ shown, ...reply }: Answer) {
    const question = lastItem(currentState().prompts)
    if (!question || question.kind === 'notice') return
    const { step, ask, text: asked } = question
    addPending({ id: newId(), step, ask, asked, shown, ...reply })
  }

  /** Returns to the previous question and removes its answer. */
  function goBack() {
    const question = lastItem(view.prompts)!
    if (pendingActions.length > 0 || !question.back) return
    addPending({ id: newId(), step: view.step, ask: question.ask, asked: '', shown: '', value: 'back' })
  }

  function optOut() {
    stopped = true
    addPending({ id: newId(), step: Math.max(1, view.step), ask: '', asked: '', shown: '', value: 'stop' })
  }

  function setLanguage(language: string) {
    // Only the last chosen language matters: drop earlier choices.
    pendingActions = pendingActions.filter(isAnswer)
    addPending({ id: newId(), language })
  }

  function addPending(action: PendingAction) {
    pendingActions = [...pendingActions, action]
    savePending()
    notify()
    void sync()
  }

  /** Sends the pending actions in order. */
  async function sync() {
    if (sending) return
    sending = true
    clearTimeout(timer)
    try {
      while (pendingActions.length > 0 && (await sendFirstPending())) {}
    } finally {
      sending = false
    }
    notify()
  }

  async function sendFirstPending(): Promise<boolean> {
    const action = pendingActions[0]!
    const result = isAnswer(action)
      ? await call<CandidateTurn | CandidateView>(`${url}/reply`, { body: bodyOf(action) })
      : await call<CandidateView>(`${url}/language`, { body: { language: action.language } })
    if (result.ok) {
      removePending(action)
      await applyResponse(result.data, action)
      return true
    }
    if (expires(result.code)) return false
    if (result.status >= 400 && result.status < 500 && result.status !== 408 && result.status !== 429) {
      // The error is permanent: drop the action and reload the conversation.
      removePending(action)
      await refresh()
      return !linkInvalid
    }
    sendProblem = result.code === OFFLINE ? 'offline' : result.code === 'SERVICE_DISABLED' ? 'paused' : 'failed'
    timer = setTimeout(sync, retryDelayMs)
    retryDelayMs = Math.min(retryDelayMs * 2, MAX_RETRY_DELAY_MS)
    return false
  }

  function removePending(action: PendingAction) {
    sendProblem = undefined
    retryDelayMs = FIRST_RETRY_DELAY_MS
    pendingActions = pendingActions.filter(({ id }) => id !== action.id)
    savePending()
  }

  function bodyOf(action: PendingAnswer) {
    const { id, step, value, text } = action
    // After going back, the known upcoming questions are outdated: request all of them again.
    const knownSteps = value === 'back' ? {} : { have: Math.max(0, ...promptsByStep.keys()) }
    return { step, client_id: id, ...(text === undefined ? { value } : { text }), ...knownSteps }
  }

  async function applyResponse(turn: CandidateTurn | CandidateView, action: PendingAction) {
    if ('labels' in turn) {
      applyView(turn, true)
    } else if (
      !isAnswer(action) ||
      turn.language !== view.language ||
      (turn.step !== action.step + 1 && !isStop(action))
    ) {
      // The conversation continued on another device.
      await refresh()
    } else {
      const past = isStop(action) ? view.past : [...view.past, { asked: action.asked, answer: action.shown }]
      applyView({ ...view, ...turn, past }, false)
    }
    dropOutdated()
    notify()
  }

  /** Reloads the conversation from the server. */
  async function refresh() {
    const result = await call<CandidateView>(url)
    if (result.ok) applyView(result.data, true)
    else if (expires(result.code)) return
    else if (result.status === 410)
      location.reload() // the server renders why the link has ended
    else if (result.status === 404) {
      linkInvalid = true
      pendingActions = []
      savePending()
    }
    dropOutdated()
    notify()
  }

  /** Returns whether an error means that the embedded page has expired, and then keeps the pending actions. */
  function expires(code: string): boolean {
    if (!onExpired || code !== 'LINK_EXPIRED') return false
    sendProblem = undefined
    if (!expired) onExpired()
    expired = true
    notify()
    return true
  }

  function applyView(next: CandidateView, replacesAll: boolean) {
    view = next
    if (replacesAll) promptsByStep.clear()
    promptsByStep.delete(next.step)
    for (const step of [...promptsByStep.keys()]) if (step < next.step) promptsByStep.delete(step)
    for (const prompt of [...next.prompts, ...next.ahead])
      promptsByStep.set(prompt.step, [...(promptsByStep.get(prompt.step) ?? []), prompt])
  }

  /** Drops pending answers to questions that are no longer asked, for example because they were answered on another device. */
  function dropOutdated() {
    const remaining = pendingActions.filter((action) => {
      if (!isAnswer(action) || isStop(action)) return true
      const question = lastItem(promptsByStep.get(action.step))
      return view.status === 'open' && action.step >= view.step && (!question || question.ask === action.ask)
    })
    if (remaining.length === pendingActions.length) return
    pendingActions = remaining
    savePending()
  }

  function savePending() {
    if (pendingActions.length > 0) saveDraft(draftKey, pendingActions)
    else deleteDraft(draftKey)
  }

  function notify() {
    onChange(currentState())
  }

  function noticePrompt(text: string): CandidatePrompt {
    return { step: view.step, ask: 'ended', kind: 'notice', text, choices: [], back: false }
  }
}

/** Returns the name under which drafts of this conversation are stored on the device. */
export function draftName(token: string): string {
  return `candidate ${token.slice(-8)}`
}

export function isAnswer(action: PendingAction): action is PendingAnswer {
  return 'step' in action
}

function isStop(action: PendingAction): boolean {
  return isAnswer(action) && action.value === 'stop'
}

export function lastItem<T>(list: T[] | undefined): T | undefined {
  return list?.[list.length - 1]
}

function newId(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('')
}
