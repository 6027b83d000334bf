import { readDraft, saveDraft } from './drafts.ts'

export type PageLanguage = 'en' | 'hi'

/** Returns the user's last choice, or the browser's preferred language. */
export function initialLanguage(): PageLanguage {
  const savedLanguage = readDraft<PageLanguage>('language')
  if (savedLanguage === 'en' || savedLanguage === 'hi') return savedLanguage
  return navigator.languages.some((language) => language.toLowerCase().startsWith('hi')) ? 'hi' : 'en'
}

export function saveLanguage(language: PageLanguage): void {
  saveDraft('language', language)
  document.documentElement.lang = language
}
