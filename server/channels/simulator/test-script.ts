import { type Persona, personaOf } from './test-numbers.ts'

export const scriptedAnswers = ['correct', 'wrong', 'undecided'] as const
/** An answer to a skill question. `undecided` is the answer that leaves the verdict less certain. */
export type ScriptedAnswer = (typeof scriptedAnswers)[number]

export const postponements = ['today', 'tomorrow', 'never'] as const

/** The script of a simulated candidate, as the partner sent it. Absent fields: the candidate replies at once and qualifies. */
export interface TestScript {
  unreachable?: boolean
  /** Number of messages that the candidate does not reply to: 1 is the first message, 2 also the first follow-up. */
  ignored_messages?: number
  reply_delay_seconds?: number
  consent?: 'yes' | 'no'
  /** The first reply is "not now", followed by this time. */
  postpone?: (typeof postponements)[number]
  /** Answers by the key of the enrichment question. */
  enrichment?: Record<string, string>
  /** Answers to the questions of each skill, in order. The last one is repeated. */
  skill_answers?: ScriptedAnswer[]
  /** Answers for single skills, in place of `skill_answers`. */
  skills?: { skill_id: string; answers: ScriptedAnswer[] }[]
  interest?: 'yes' | 'no'
  /** Number of replies after which the candidate does not reply any more, or replies STOP. */
  silent_after?: number
  stop_after?: number
}

/** The behaviour of a simulated candidate: a script, or that of a test number. */
export interface Behaviour extends TestScript {
  givesKnockoutAnswers?: boolean
  /** After the first question, or at the first if it is the only one. */
  endsMidway?: 'silence' | 'stop'
}

export const personaBehaviours: Record<Persona, Behaviour> = {
  passes: {},
  knocked_out: { givesKnockoutAnswers: true },
  fails_skills: { skill_answers: ['wrong'] },
  not_interested: { interest: 'no' },
  declines: { consent: 'no' },
  never_answers: { silent_after: 0 },
  falls_silent: { endsMidway: 'silence' },
  unreachable: { unreachable: true },
  answers_late: { ignored_messages: 1 },
  stops: { endsMidway: 'stop' },
  inconclusive_skills: { skill_answers: ['undecided'] },
}

export interface SimulatedPerson {
  phone: string | null
  email: string | null
  test_script: TestScript | null
}

/** Returns the behaviour of a simulated candidate of TEST mode; undefined if a person plays the candidate. */
export function behaviourOf(person: SimulatedPerson): Behaviour | undefined {
  if (person.test_script) return person.test_script
  const persona = personaOf(person)
  return persona && personaBehaviours[persona]
}

/** Returns whether the candidate does not reply to a message: the first one (0) or a follow-up (1, 2, …). */
export function ignoresMessage({ ignored_messages = 0, silent_after }: Behaviour, followUpNumber: number): boolean {
  return silent_after === 0 || followUpNumber < ignored_messages
}
