/** What the test numbers do, by their last two digits. */
export const parts = {
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
} as const
export type Part = (typeof parts)[keyof typeof parts]

const TEST_NUMBER = /^\+9199900000(0[1-9]|10)$/

/** The part that a number plays by itself; none where a person has to answer. */
export function partOf(phone: string | null): Part | undefined {
  const digits = phone === null ? undefined : TEST_NUMBER.exec(phone)?.[1]
  return digits === undefined ? undefined : parts[digits as keyof typeof parts]
}

/** For a test number every wait of hours takes this long, in milliseconds. */
export const SHORT_WAIT = 1000
/** How long a test number thinks before it answers, in milliseconds. */
export const THINKING = 300
