import { call, OFFLINE } from '../api.ts'
import { dropDraft, keepDraft, readDraft } from '../drafts.ts'
import { paths } from '../paths.ts'
import type { Prompt, Turn, View } from './view.ts'

/** Something done on the page that the server may not know of yet. */
export type Deed = AnswerDeed | { id: string; language: string }

interface AnswerDeed {
  id: string
  step: number
  ask: string
  value?: string
  text?: string
  /** The question and the answer as the candidate saw them. */
  asked: string
  shown: string
}

export interface Talk {
  view: View
  /** In the order in which they were done; kept on the device until the server has them. */
  deeds: Deed[]
  /** Why the last try to send did not get through. */
  trouble: 'offline' | 'failed' | undefined
  /** The link has stopped working while the page was open. */
  gone: boolean
  /** What to ask now: beyond what the server knows, where it is known already. */
  prompts: Prompt[] | undefined
  done: number
}

export interface Answer {
  value?: string
  text?: string
  /** As the candidate sees it. */
  shown: string
}

const FIRST_PAUSE = 2_000
const LONGEST_PAUSE = 30_000

/**
 * The conversation as the page has it. An answer counts at once: it is kept, the next question is put if it is known, and the
 * answers go to the server one after the other, each until it has arrived. The server does each once, by its id and step.
 */
export function openTalk(token: string, first: View, onChange: (talk: Talk) => void) {
  const address = paths.candidate(token)
  const store = storeOf(token)
  const known = new Map<number, Prompt[]>()
  let view = first
  let deeds = readDraft<Deed[]>(store) ?? []
  let trouble: Talk['trouble']
  let stopped = false
  let gone = false
  let sending = false
  let pause = FIRST_PAUSE
  let timer: ReturnType<typeof setTimeout> | undefined
  learn(first, true)
  dropOutdated()

  return { now, answer, back, stop, speak, sync, refresh }

  function now(): Talk {
    const { step, progress } = view
    const at = position()
    const prompts = stopped || deeds.some(isStop) ? [said(view.labels.stopped)] : known.get(at)
    return { view, deeds, trouble, gone, prompts, done: Math.min(progress.done + at - step, progress.total) }
  }

  /** The step that stands to be answered, after all that was answered here. */
  function position() {
    return deeds.filter(isAnswer).reduce((step, deed) => {
      return deed.value === 'stop' || deed.value === 'back' ? step : Math.max(step, deed.step + 1)
    }, view.step)
  }

  function answer({ shown, ...given }: Answer) {
    const question = lastOf(now().prompts)
    if (!question || question.kind === 'notice') return
    const { step, ask, text: asked } = question
    add({ id: newId(), step, ask, asked, shown, ...given })
  }

  /** Takes the last answer back. */
  function back() {
    const question = lastOf(view.prompts)!
    if (deeds.length > 0 || !question.back) return
    add({ id: newId(), step: view.step, ask: question.ask, asked: '', shown: '', value: 'back' })
  }

  function stop() {
    stopped = true
    add({ id: newId(), step: Math.max(1, view.step), ask: '', asked: '', shown: '', value: 'stop' })
  }

  function speak(language: string) {
    // Only the last wish counts.
    deeds = deeds.filter(isAnswer)
    add({ id: newId(), language })
  }

  function add(deed: Deed) {
    deeds = [...deeds, deed]
    keep()
    tell()
    void sync()
  }

  /** Sends what has not been sent, in order. */
  async function sync() {
    if (sending) return
    sending = true
    clearTimeout(timer)
    try {
      while (deeds.length > 0 && (await sendFirst())) {}
    } finally {
      sending = false
    }
    tell()
  }

  async function sendFirst(): Promise<boolean> {
    const deed = deeds[0]!
    const outcome = isAnswer(deed)
      ? await call<Turn | View>(`${address}/reply`, { body: bodyOf(deed) })
      : await call<View>(`${address}/language`, { body: { language: deed.language } })
    if (outcome.ok) {
      arrived(deed)
      await take(outcome.data, deed)
      return true
    }
    if (outcome.status >= 400 && outcome.status < 500 && outcome.status !== 408 && outcome.status !== 429) {
      // The server will never take it: what stands is asked anew.
      arrived(deed)
      await refresh()
      return !gone
    }
    trouble = outcome.code === OFFLINE ? 'offline' : 'failed'
    timer = setTimeout(sync, pause)
    pause = Math.min(pause * 2, LONGEST_PAUSE)
    return false
  }

  function arrived(deed: Deed) {
    trouble = undefined
    pause = FIRST_PAUSE
    deeds = deeds.filter(({ id }) => id !== deed.id)
    keep()
  }

  function bodyOf(deed: AnswerDeed) {
    const { id, step, value, text } = deed
    // After a step back the steps ahead are others: everything is asked for.
    const have = value === 'back' ? {} : { have: Math.max(0, ...known.keys()) }
    return { step, client_id: id, ...(text === undefined ? { value } : { text }), ...have }
  }

  async function take(turn: Turn | View, deed: Deed) {
    if ('labels' in turn) {
      learn(turn, true)
    } else if (!isAnswer(deed) || turn.language !== view.language || (turn.step !== deed.step + 1 && !isStop(deed))) {
      // Somebody went on elsewhere.
      await refresh()
    } else {
      const past = isStop(deed) ? view.past : [...view.past, { asked: deed.asked, answer: deed.shown }]
      learn({ ...view, ...turn, past }, false)
    }
    dropOutdated()
    tell()
  }

  /** Asks where the conversation stands. */
  async function refresh() {
    const outcome = await call<View>(address)
    if (outcome.ok) learn(outcome.data, true)
    else if (outcome.status === 404) {
      gone = true
      deeds = []
      keep()
    }
    dropOutdated()
    tell()
  }

  function learn(next: View, whole: boolean) {
    view = next
    if (whole) known.clear()
    known.delete(next.step)
    for (const step of [...known.keys()]) if (step < next.step) known.delete(step)
    for (const prompt of [...next.prompts, ...next.ahead])
      known.set(prompt.step, [...(known.get(prompt.step) ?? []), prompt])
  }

  /** Answers to questions that are not asked any more: they were answered elsewhere, or the conversation took another way. */
  function dropOutdated() {
    const kept = deeds.filter((deed) => {
      if (!isAnswer(deed) || isStop(deed)) return true
      const question = lastOf(known.get(deed.step))
      return view.status === 'open' && deed.step >= view.step && (!question || question.ask === deed.ask)
    })
    if (kept.length === deeds.length) return
    deeds = kept
    keep()
  }

  function keep() {
    if (deeds.length > 0) keepDraft(store, deeds)
    else dropDraft(store)
  }

  function tell() {
    onChange(now())
  }

  function said(text: string): Prompt {
    return { step: view.step, ask: 'ended', kind: 'notice', text, choices: [], back: false }
  }
}

/** Under what name things of this conversation are kept on the device. */
export function storeOf(token: string): string {
  return `candidate ${token.slice(-8)}`
}

export function isAnswer(deed: Deed): deed is AnswerDeed {
  return 'step' in deed
}

function isStop(deed: Deed): boolean {
  return isAnswer(deed) && deed.value === 'stop'
}

export function lastOf<T>(list: T[] | undefined): T | undefined {
  return list?.[list.length - 1]
}

function newId(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('')
}
