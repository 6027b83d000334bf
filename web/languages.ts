import { keepDraft, readDraft } from './drafts.ts'

export type PageLanguage = 'en' | 'hi'

/** The reader's last choice, else what the browser asks for. */
export function firstLanguage(): PageLanguage {
  const chosen = readDraft<PageLanguage>('language')
  if (chosen === 'en' || chosen === 'hi') return chosen
  return navigator.languages.some((language) => language.toLowerCase().startsWith('hi')) ? 'hi' : 'en'
}

export function chooseLanguage(language: PageLanguage): void {
  keepDraft('language', language)
  document.documentElement.lang = language
}
