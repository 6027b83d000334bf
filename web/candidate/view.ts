/** What the server says of a conversation. */

export interface Choice {
  value: string
  label: string
}

export interface Prompt {
  step: number
  /** Which question it is, whatever its language and step. */
  ask: string
  kind: 'notice' | 'yes_no' | 'choices' | 'words'
  text: string
  choices: Choice[]
  /** The answer before it can be taken back. */
  back: boolean
}

export interface Exchange {
  asked: string
  answer: string
}

export type Labels = Record<
  | 'send'
  | 'language'
  | 'progress'
  | 'offline'
  | 'retry'
  | 'failed'
  | 'loading'
  | 'answer'
  | 'back'
  | 'speak'
  | 'hint'
  | 'stop'
  | 'stopSure'
  | 'stopped'
  | 'yes'
  | 'no'
  | 'unknown',
  string
>

/** What changes with a reply. */
export interface Turn {
  language: string
  step: number
  progress: { done: number; total: number }
  status: 'open' | 'ended' | 'closed'
  ending: string | null
  prompts: Prompt[]
  /** The questions that come next whatever is answered. */
  ahead: Prompt[]
}

export interface View extends Turn {
  name: string
  company: string
  title: string
  languages: { code: string; name: string }[]
  labels: Labels
  past: Exchange[]
}

/** A link that leads nowhere, or a visitor who comes too often. */
export interface Wrong {
  wrong: 'unknown' | 'failed'
  language: string
  labels: Labels
}
