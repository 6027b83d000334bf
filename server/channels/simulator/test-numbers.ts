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

/** Addresses of test candidates without a phone number, with an optional tag: `candidate-01+7@test.attestry.example`. */
const TEST_ADDRESS_PATTERN = /^candidate-(0[1-9]|1[01])(?:\+[a-z0-9.-]*)?@test\.attestry\.example$/i

/** Returns the persona of a test number or, without a phone number, of a test address; undefined for all others. */
export function personaOf({ phone, email }: { phone: string | null; email: string | null }): Persona | undefined {
  const digits = phone === null ? TEST_ADDRESS_PATTERN.exec(email ?? '')?.[1] : TEST_NUMBER_PATTERN.exec(phone)?.[1]
  return digits === undefined ? undefined : personas[digits as keyof typeof personas]
}

/** Delay for test numbers, in place of every delay that is configured in hours. */
export const TEST_NUMBER_WAIT_MS = 1000
/** Time before a test number replies. */
export const REPLY_DELAY_MS = 300
