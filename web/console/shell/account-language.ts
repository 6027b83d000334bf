import type { ConsoleSession } from '../../api-types/console.ts'
import { browserLanguage, readChosenLanguage, showAccountLanguage } from '../../translations/load.ts'
import type { Language } from '../../translations/translate.ts'
import { api } from './api.ts'

/** Stores the language of emails with the account. */
export async function saveAccountLanguage(language: Language): Promise<void> {
  await api('/account/language', { method: 'PUT', body: { language } })
}

/**
 * Shows the console in the language of the account, in a browser in which none was chosen. An account without a language gets the one that
 * was chosen before the sign-in, or the one of the browser unless that is English, the default.
 */
export function applyAccountLanguage({ language }: ConsoleSession): void {
  const missing = language === null ? (readChosenLanguage() ?? browserLanguage()) : undefined
  if (missing && (missing !== 'en' || readChosenLanguage())) void saveAccountLanguage(missing)
  showAccountLanguage(language ?? undefined)
}
