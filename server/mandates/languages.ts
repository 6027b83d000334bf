import type { QuestionWriter } from '../questions/questions.ts'
import type { Language } from '../workflows/workflows.ts'
import { type MandateBody, toVerify } from './body.ts'

/** What the built-in bank of skill questions is written in. */
export const BANK_LANGUAGES: readonly Language[] = ['en', 'hi']

/** The languages of the workflow that questions will not be in. */
export interface Untold {
  enrichment: Language[]
  skills: Language[]
}

/** What can be said before the questions are written. */
export function expectUntold(
  { methods, skills, enrichment_questions: questions = [] }: MandateBody,
  languages: readonly Language[],
  { kind }: Pick<QuestionWriter, 'kind'>,
): Untold {
  if (kind === 'ai') return { enrichment: [], skills: [] }
  const asks = methods.includes('data_enrichment') && questions.length > 0
  const verifies = methods.includes('skill_verification') && toVerify(skills).length > 0
  return {
    enrichment: asks ? languages.filter((language) => language !== 'en') : [],
    skills: verifies ? languages.filter((language) => !BANK_LANGUAGES.includes(language)) : [],
  }
}

/** What partners should know about the languages in which candidates will be asked. */
export function languageWarnings({ enrichment, skills }: Untold): string[] {
  const warnings: string[] = []
  if (enrichment.length > 0)
    warnings.push(`Enrichment questions stay in English: they are not translated to ${listed(enrichment)}.`)
  if (skills.length > 0)
    warnings.push(
      `Not every skill question is written in ${listed(skills)}; those candidates get the others in another language.`,
    )
  return warnings
}

const names = new Intl.DisplayNames('en', { type: 'language' })

function listed(languages: readonly Language[]) {
  return languages.map((language) => names.of(language)).join(', ')
}
