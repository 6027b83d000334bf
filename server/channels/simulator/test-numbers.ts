/** The behaviour of each test number, by its last two digits. */
export const personas = {
  '01': 'passes',
  '02': 'knocked_out',
  '03': 'fails_skills',
  '04': 'not_interested',
  '05': 'declines',
  '06': 'never_answers',
  '07': 'falls_silent',
  '08': 'unreachable',
  '09': 'answers_late',
  '10': 'stops',
  '11': 'inconclusive_skills',
} as const
export type Persona = (typeof personas)[keyof typeof personas]

const TEST_NUMBER_PATTERN = /^\+9199900000(0[1-9]|1[01])$/

/** Returns the persona of a test number; undefined for any other number. */
export function personaOf(phone: string | null): Persona | undefined {
  const digits = phone === null ? undefined : TEST_NUMBER_PATTERN.exec(phone)?.[1]
  return digits === undefined ? undefined : personas[digits as keyof typeof personas]
}

/** Delay for test numbers, in place of every delay that is configured in hours. */
export const TEST_NUMBER_WAIT_MS = 1000
/** Time before a test number replies. */
export const REPLY_DELAY_MS = 300
