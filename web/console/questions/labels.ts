import type { MandateQuestion, QuestionItem } from '../../api-types/console.ts'

type Source = QuestionItem['source']

export const SOURCE_NAMES: Record<Source, string> = {
  bank: 'Built-in bank',
  private: 'Your own questions',
  ai: 'AI writer',
}

export const REASON_TEXTS: Record<NonNullable<QuestionItem['retirement_reason']>, string> = {
  miskeyed: 'Able people prefer another option to the key: the key may be wrong.',
  leaked: 'Suddenly more people are correct than their other responses explain: the answer may be known.',
  not_discriminating:
    'People who do well in other questions are not correct more often here: the question does not measure the skill.',
  manual: 'Retired by a person.',
}

export const REASON_NAMES: Record<NonNullable<QuestionItem['retirement_reason']>, string> = {
  miskeyed: 'key may be wrong',
  leaked: 'answer may be known',
  not_discriminating: 'does not discriminate',
  manual: 'by a person',
}

export function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(100 * share)} %`
}

/** Formats a number with a fixed number of digits and a minus sign, not a hyphen. */
export function decimal(value: number | null, digits = 2): string {
  return value === null ? '–' : value.toFixed(digits).replace('-', '−')
}

export function seconds(value: number | null): string {
  return value === null ? '–' : `${Math.round(value)} s`
}

export const QUALITY_TEXTS: Record<MandateQuestion['quality'], string> = {
  proven: 'Proven',
  unproven: 'Not proven yet',
  weak: 'Weak: able people are not correct more often',
}
