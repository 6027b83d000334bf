import type { Language } from '../platform/text/languages.ts'
import type { QuestionWriter } from '../questions/questions.ts'
import { type MandateBody, skillsToVerify } from './body.ts'

/** Languages of the built-in question bank. */
export const BANK_LANGUAGES: readonly Language[] = ['en', 'hi']

/** Workflow languages for which questions are missing. */
export interface MissingLanguages {
  enrichment: Language[]
  skills: Language[]
}

/** Predicts the missing languages before the questions are written. */
export function predictMissingLanguages(
  { methods, skills, enrichment_questions: questions = [] }: MandateBody,
  languages: readonly Language[],
  { kind }: Pick<QuestionWriter, 'kind'>,
): MissingLanguages {
  if (kind === 'ai') return { enrichment: [], skills: [] }
  const asksQuestions = methods.includes('data_enrichment') && questions.length > 0
  const verifiesSkills = methods.includes('skill_verification') && skillsToVerify(skills).length > 0
  return {
    enrichment: asksQuestions ? languages.filter((language) => language !== 'en') : [],
    skills: verifiesSkills ? languages.filter((language) => !BANK_LANGUAGES.includes(language)) : [],
  }
}

/** Builds the warnings about missing languages. */
export function languageWarnings({ enrichment, skills }: MissingLanguages): string[] {
  const warnings: string[] = []
  if (enrichment.length > 0)
    warnings.push(`Enrichment questions stay in English; they are not translated to ${formatLanguages(enrichment)}.`)
  if (skills.length > 0)
    warnings.push(
      `Some skill questions are not available in ${formatLanguages(skills)}; candidates get them in another language.`,
    )
  return warnings
}

const languageNames = new Intl.DisplayNames('en', { type: 'language' })

function formatLanguages(languages: readonly Language[]) {
  return languages.map((language) => languageNames.of(language)).join(', ')
}
