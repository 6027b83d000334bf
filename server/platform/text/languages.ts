/** ISO 639-1 codes of the languages in which candidates and students can be asked questions. */
export const LANGUAGES = ['en', 'hi', 'bn', 'ta', 'te', 'mr', 'gu', 'kn', 'ml', 'pa', 'or', 'as'] as const
export type Language = (typeof LANGUAGES)[number]

/** Created at the first use, because this takes 30 ms. */
let englishNames: Intl.DisplayNames | undefined

/** Returns the English name of a language. Node.js calls Bengali Bangla. */
export function languageName(language: string): string {
  if (language === 'bn') return 'Bengali'
  englishNames ??= new Intl.DisplayNames('en', { type: 'language' })
  return englishNames.of(language) ?? language
}

/** Returns the first supported language of an Accept-Language header, or English. */
export function acceptedLanguage(header: string | undefined): Language {
  for (const [, code] of (header ?? '').toLowerCase().matchAll(/(?:^|,)\s*([a-z]{2,3})\b/g)) {
    const supportedLanguage = LANGUAGES.find((language) => language === code)
    if (supportedLanguage) return supportedLanguage
  }
  return 'en'
}
