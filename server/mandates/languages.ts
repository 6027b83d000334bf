import type { Language } from '../platform/text/languages.ts'
import type { QuestionWriter } from '../questions/questions.ts'
import { type MandateBody, skillsToVerify } from './body.ts'

/** Languages of the built-in question bank. */
const BANK_LANGUAGES: readonly Language[] = ['en', 'hi']

/** Workflow languages for which questions are missing. */
export interface MissingLanguages {
  /** The languages that each enrichment question lacks, by its key. */
  enrichment: MissingTranslations[]
  skills: Language[]
}

export interface MissingTranslations {
  key: string
  languages: Language[]
}

/** Predicts the missing languages before the questions are written. */
export function predictMissingLanguages(
  { methods, skills, enrichment_questions: questions = [] }: MandateBody,
  languages: readonly Language[],
  { kind }: Pick<QuestionWriter, 'kind'>,
): MissingLanguages {
  if (kind === 'ai') return { enrichment: [], skills: [] }
  const askedQuestions = methods.includes('data_enrichment') ? questions : []
  const verifiesSkills = methods.includes('skill_verification') && skillsToVerify(skills).length > 0
  return {
    enrichment: missingTranslations(
      askedQuestions.map(({ key, text, translations }) => ({ key, text: { en: text, ...translations } })),
      languages,
    ),
    skills: verifiesSkills ? languages.filter((language) => !BANK_LANGUAGES.includes(language)) : [],
  }
}

/** Returns the questions that lack one of the languages. */
export function missingTranslations(
  questions: { key: string; text: Partial<Record<Language, string>> }[],
  languages: readonly Language[],
): MissingTranslations[] {
  return questions
    .map(({ key, text }) => ({ key, languages: languages.filter((language) => text[language] === undefined) }))
    .filter((question) => question.languages.length > 0)
}

/** Builds the warnings about missing languages. */
export function languageWarnings({ enrichment, skills }: MissingLanguages): string[] {
  const warnings: string[] = []
  if (enrichment.length > 0) {
    const questions = enrichment.map(({ key, languages }) => `${key} (${formatLanguages(languages)})`).join(', ')
    warnings.push(
      `Enrichment questions without a translation are asked in English: ${questions}. Send the texts in their translations.`,
    )
  }
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
