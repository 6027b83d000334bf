import { type Language, languageName } from '../platform/text/languages.ts'
import type { QuestionWriter } from '../questions/questions.ts'
import { type ItemSource, MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'
import type { CreatedVia } from '../workflows/enums.ts'
import { type MandateBody, skillsToVerify } from './body.ts'
import type { VerifiableSkills } from './rules.ts'

/** The warning names at most this many skills. */
const MAX_NAMED_SKILLS = 5

/** Workflow languages for which questions are missing. */
export interface MissingLanguages {
  /** The languages that each enrichment question lacks, by its key. */
  enrichment: MissingTranslations[]
  skills: SkillLanguages[]
}

/** A skill whose questions lack languages of the workflow. */
export interface SkillLanguages {
  name: string
  source: ItemSource
  /** Languages in which the skill can be asked. */
  available: readonly Language[]
  missing: Language[]
}

export interface MissingTranslations {
  key: string
  languages: Language[]
}

export interface LanguagePredictionDeps {
  writer: Pick<QuestionWriter, 'kind'>
  skills: VerifiableSkills
  /**
   * Returns the languages in which the built-in bank can ask about a skill; undefined for skills that are asked with items of the
   * organisation, whose languages are not known before the questions are written.
   */
  bankLanguagesOf?: ((skillNumber: number) => readonly Language[] | undefined) | undefined
}

/**
 * Returns whether the AI writer translates the enrichment questions of a mandate while it is prepared. It does so for partners, who
 * cannot read its translations first. In the console, it only suggests translations, and candidates get those that a person confirmed.
 */
export function translatesUnconfirmed(createdVia: CreatedVia): boolean {
  return createdVia === 'api'
}

/** Predicts the missing languages before the questions are written. */
export function predictMissingLanguages(
  { methods, skills, enrichment_questions: questions = [] }: MandateBody,
  languages: readonly Language[],
  createdVia: CreatedVia,
  { writer, skills: loadedSkills, bankLanguagesOf }: LanguagePredictionDeps,
): MissingLanguages {
  const isTranslated = writer.kind === 'ai' && translatesUnconfirmed(createdVia)
  const askedQuestions = methods.includes('data_enrichment') && !isTranslated ? questions : []
  const isBankUsed = methods.includes('skill_verification') && writer.kind !== 'ai'
  const verifiedSkills = isBankUsed ? skillsToVerify(skills) : []
  const bankSkills = verifiedSkills.flatMap((id) => {
    const { number, name } = loadedSkills.byId(id)!
    const bankLanguages = bankLanguagesOf?.(number)
    return bankLanguages ? [{ name, source: 'bank' as const, languages: bankLanguages }] : []
  })
  return {
    enrichment: missingTranslations(
      askedQuestions.map(({ key, text, translations }) => ({ key, text: { en: text, ...translations } })),
      languages,
    ),
    skills: missingSkillLanguages(bankSkills, languages),
  }
}

/** Returns the skills that cannot be asked in one of the languages. */
export function missingSkillLanguages(
  skills: { name: string; source: ItemSource; languages: readonly Language[] }[],
  languages: readonly Language[],
): SkillLanguages[] {
  return skills
    .map(({ name, source, languages: available }) => ({
      name,
      source,
      available,
      missing: languages.filter((language) => !available.includes(language)),
    }))
    .filter(({ missing }) => missing.length > 0)
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
  if (skills.length > 0) {
    const named = skills.slice(0, MAX_NAMED_SKILLS).map(describeSkill).join('; ')
    const others = skills.length > MAX_NAMED_SKILLS ? `; and ${skills.length - MAX_NAMED_SKILLS} more` : ''
    warnings.push(
      `Some skill questions are not available in every language of the workflow, and are asked in another one: ${named}${others}. Import at least ${MIN_ACTIVE_ITEMS} questions of your own about each of these skills in all languages of the workflow, or remove the languages from the workflow.`,
    )
  }
  return warnings
}

const SOURCE_DESCRIPTIONS: Record<ItemSource, string> = {
  bank: 'the built-in bank has',
  private: "your organisation's bank has",
  ai: 'the AI writer has written',
}

function describeSkill({ name, source, available, missing }: SkillLanguages): string {
  return `${name} in ${formatLanguages(missing)} (${SOURCE_DESCRIPTIONS[source]} only ${formatLanguages(available)})`
}

function formatLanguages(languages: readonly Language[]) {
  return languages.map(languageName).join(', ')
}
