import type { EnrichmentQuestion, Language, PreparedQuestions, QuestionTranslations } from '../../api-types/partner.ts'

/** A language in which a question can have a translation; its text is English. */
export type TranslatedLanguage = keyof QuestionTranslations

export function isTranslatedLanguage(language: Language): language is TranslatedLanguage {
  return language !== 'en'
}

/** Returns the translation that a person has confirmed; an empty one does not count. */
export function confirmedTranslation(
  { translations }: EnrichmentQuestion,
  language: TranslatedLanguage,
): string | undefined {
  const text = translations?.[language]
  return text?.trim() ? text : undefined
}

/** Returns the question with this translation, or without one if the text is empty. */
export function withTranslation(
  { translations, ...question }: EnrichmentQuestion,
  language: TranslatedLanguage,
  text: string,
): EnrichmentQuestion {
  const { [language]: _, ...others } = translations ?? {}
  const next = text === '' ? others : { ...others, [language]: text }
  return Object.keys(next).length === 0 ? question : { ...question, translations: next }
}

/** Returns the number of questions without a translation, for each language that lacks any. */
export function countMissing(
  questions: EnrichmentQuestion[],
  languages: TranslatedLanguage[],
): { language: TranslatedLanguage; questions: number }[] {
  return languages
    .map((language) => ({
      language,
      questions: questions.filter((question) => confirmedTranslation(question, language) === undefined).length,
    }))
    .filter((missing) => missing.questions > 0)
}

/** Translations of the AI writer that nobody has confirmed, by language and English text. */
export type Suggestions = Readonly<Record<string, string>>

export function suggestionKey(language: TranslatedLanguage, text: string): string {
  return `${language} ${text}`
}

/** Returns the unconfirmed translations of the AI writer that the prepared questions contain. */
export function preparedSuggestions(
  questions: EnrichmentQuestion[],
  prepared: PreparedQuestions['enrichment'],
): Suggestions {
  const textsByKey = new Map(prepared.map(({ key, text }) => [key, text]))
  return Object.fromEntries(
    questions.flatMap((question) =>
      Object.entries(textsByKey.get(question.key) ?? {})
        .filter(([language]) => isTranslatedLanguage(language as Language))
        .filter(([language]) => confirmedTranslation(question, language as TranslatedLanguage) === undefined)
        .map(([language, text]) => [suggestionKey(language as TranslatedLanguage, question.text), text]),
    ),
  )
}
