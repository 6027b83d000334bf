import { OFFLINE } from '../api.ts'
import type { PageLanguage } from '../languages.ts'
import { type EmbedTexts, texts } from './texts.ts'

/** Texts of errors after which another attempt cannot succeed. */
const finalErrors: Partial<Record<string, keyof EmbedTexts>> = {
  NOT_EMBEDDED: 'notEmbedded',
  NOT_FOUND: 'expired',
  SESSION_NOT_FOUND: 'expired',
  LINK_EXPIRED: 'expired',
  DATA_ERASED: 'erased',
}

export function Loading({ language }: { language: PageLanguage }) {
  return (
    <main class="embed-notice">
      <p role="status">{texts[language].loading}</p>
    </main>
  )
}

/** Explains why the page cannot be shown. */
export function EmbedError({ code, language }: { code: string; language: PageLanguage }) {
  const pageTexts = texts[language]
  const final = finalErrors[code]
  const text = final ?? (code === OFFLINE ? 'offline' : code === 'SERVICE_DISABLED' ? 'paused' : 'failed')
  return (
    <main class="embed-notice">
      <p role="alert">{pageTexts[text]}</p>
      {!final && (
        <button type="button" onClick={() => location.reload()}>
          {pageTexts.retry}
        </button>
      )}
    </main>
  )
}
