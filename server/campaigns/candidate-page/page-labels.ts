import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'

/** Returns the page's labels in the candidate's language; the page itself contains no texts. */
export function pageLabels(language: Language) {
  const text = (key: Parameters<typeof prompt>[0]) => prompt(key, language)
  return {
    send: text('page_send'),
    language: text('page_language'),
    // The page fills in the numbers.
    progress: prompt('page_progress', language, { n: '{n}', total: '{total}' }),
    offline: text('page_offline'),
    retry: text('page_retry'),
    failed: text('page_failed'),
    loading: text('page_loading'),
    answer: text('page_answer'),
    back: text('page_back'),
    speak: text('page_speak'),
    hint: text('type_or_say'),
    stop: text('page_stop'),
    stopSure: text('page_stop_sure'),
    stopped: text('thanks_stopped'),
    yes: text('yes'),
    no: text('no'),
    unknown: text('page_unknown'),
  }
}
