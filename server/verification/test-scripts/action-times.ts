import { SECOND } from '../../platform/clock.ts'
import type { SessionTestScript, StudentScript } from './schema.ts'

const DEFAULT_DELAY_SECONDS = 1

/** Returns the time of a scripted student's first action; null without a scripted student. */
export function firstActionTime({ student }: SessionTestScript, now: number): number | null {
  return student ? now + actionDelayMs(student) : null
}

/** Returns the time before the steps of a scripted student, and before each attempt. */
export function actionDelayMs({ delaySeconds = DEFAULT_DELAY_SECONDS }: StudentScript): number {
  return delaySeconds * SECOND
}
