export const LANGUAGES = { en: 'English', hi: 'हिन्दी' } as const
export type Language = keyof typeof LANGUAGES

/** The texts of a language, by the English text. */
export type Texts = Record<string, string>

let language: Language = 'en'
let texts: Texts = {}

export function setLanguage(newLanguage: Language, newTexts: Texts): void {
  language = newLanguage
  texts = newTexts
}

export function currentLanguage(): Language {
  return language
}

/** Returns the locale of numbers and dates: undefined means the locale of the browser, if it has the language of the page. */
export function displayLocale(): string | undefined {
  return language === 'en' && /^en\b/i.test(navigator.language) ? undefined : `${language}-IN`
}

/**
 * Returns the English text in the user's language, with the values in place of `{name}`. A text with several meanings names the meaning
 * after `##`, which is not shown: `t('To##recipient')`.
 */
export function t(text: string, values: Record<string, string | number | null | undefined> = {}): string {
  return translated(text).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
}

/** Returns the text in the user's language with its placeholders. */
export function translated(text: string): string {
  return texts[text] ?? text.replace(/##.*$/, '')
}
