import type { MandateQuestion, QuestionItem } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'

type Source = QuestionItem['source']

export const SOURCE_NAMES: Record<Source, string> = {
  bank: t('Built-in bank'),
  private: t('Your own questions'),
  ai: t('AI writer'),
}

export const REASON_TEXTS: Record<NonNullable<QuestionItem['retirement_reason']>, string> = {
  miskeyed: t('Able people prefer another option to the key: the key may be wrong.'),
  leaked: t('Suddenly more people are correct than their other responses explain: the answer may be known.'),
  not_discriminating: t(
    'People who do well in other questions are not correct more often here: the question does not measure the skill.',
  ),
  manual: t('Retired by a person.'),
}

export const REASON_NAMES: Record<NonNullable<QuestionItem['retirement_reason']>, string> = {
  miskeyed: t('key may be wrong'),
  leaked: t('answer may be known'),
  not_discriminating: t('does not discriminate'),
  manual: t('by a person'),
}

/** Names of the kinds of questions. */
export const KIND_NAMES: Record<string, string> = {
  unspecified: t('unspecified'),
  fault: t('fault'),
  tool: t('tool'),
  material: t('material'),
  setting: t('setting'),
  order: t('order'),
  safety: t('safety'),
  quality: t('quality'),
  rule: t('rule'),
  measure: t('measure'),
  situation: t('situation'),
  term: t('term'),
}

export function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(100 * share)} %`
}

/** Formats a number with a fixed number of digits and a minus sign, not a hyphen. */
export function decimal(value: number | null, digits = 2): string {
  return value === null ? '–' : value.toFixed(digits).replace('-', '−')
}

export function seconds(value: number | null): string {
  return value === null ? '–' : t('{seconds} s', { seconds: Math.round(value) })
}

export const QUALITY_TEXTS: Record<MandateQuestion['quality'], string> = {
  proven: t('Proven'),
  unproven: t('Not proven yet'),
  weak: t('Weak: able people are not correct more often'),
}
