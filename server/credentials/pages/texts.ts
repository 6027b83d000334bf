import { readFileSync } from 'node:fs'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'

/** Texts of the credential pages in all languages, from `data/credentials/`. */

const TEXTS_FOLDER = new URL('../../../data/credentials/', import.meta.url)
const SLOT_PATTERN = /\{(\w+)\}/g

export type CredentialTexts = Readonly<Record<string, string>>

const textsByLanguage = new Map<Language, CredentialTexts>()

/** Returns all texts in a language, with their slots unfilled. */
export function credentialTexts(language: Language): CredentialTexts {
  let texts = textsByLanguage.get(language)
  if (!texts) {
    texts = parseTexts(readFileSync(new URL(`${language}.txt`, TEXTS_FOLDER), 'utf8'))
    textsByLanguage.set(language, texts)
  }
  return texts
}

/** Returns the texts whose keys start with one of the prefixes, for a page that needs only these. */
export function pickTexts(language: Language, prefixes: readonly string[]): CredentialTexts {
  const entries = Object.entries(credentialTexts(language))
  return Object.fromEntries(entries.filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))))
}

/** Returns a function that looks up texts in a language and fills their slots. */
export function translator(language: Language): (key: string, values?: Record<string, string>) => string {
  const texts = credentialTexts(language)
  return (key, values = {}) => {
    const text = texts[key]
    if (text === undefined) throw new Error(`data/credentials/${language}.txt does not contain ${key}`)
    return text.replace(SLOT_PATTERN, (_, slot: string) => {
      const value = values[slot]
      if (value === undefined) throw new Error(`credential text ${key} requires a value for {${slot}}`)
      return value
    })
  }
}

export type Translate = ReturnType<typeof translator>

/** Returns the language that a request asks for with `?lang=`, or otherwise with its Accept-Language header. */
export function languageParameter(value: unknown): Language | undefined {
  return LANGUAGES.find((language) => language === value)
}

/** Formats a date in a language. Dates of credentials are shown in UTC, in which they are signed. */
export function formatDate(date: Date, language: Language): string {
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : `${language}-IN-u-nu-latn`, {
    dateStyle: 'long',
    timeZone: 'UTC',
  }).format(date)
}

function parseTexts(source: string): CredentialTexts {
  const texts: Record<string, string> = {}
  for (const line of source.split('\n')) {
    const [, key, text] = /^(\w+) = (.+)$/.exec(line) ?? []
    if (key && text) texts[key] = text
  }
  return texts
}
