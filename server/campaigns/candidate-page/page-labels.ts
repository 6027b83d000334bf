import { noticeText } from '../../notices/notice.ts'
import type { Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'

/** Returns the page's labels in the candidate's language; the page itself contains no texts. */
export function pageLabels(language: Language) {
  const labelText = (key: Parameters<typeof prompt>[0]) => prompt(key, language)
  return {
    send: labelText('page_send'),
    language: labelText('page_language'),
    // The page replaces {n} and {total}.
    progress: prompt('page_progress', language, { n: '{n}', total: '{total}' }),
    offline: labelText('page_offline'),
    retry: labelText('page_retry'),
    failed: labelText('page_failed'),
    loading: labelText('page_loading'),
    answer: labelText('page_answer'),
    back: labelText('page_back'),
    speak: labelText('page_speak'),
    hint: labelText('type_or_say'),
    stop: labelText('page_stop'),
    stopSure: labelText('page_stop_sure'),
    stopped: labelText('thanks_stopped'),
    yes: labelText('yes'),
    no: labelText('no'),
    unknown: labelText('page_unknown'),
    paused: labelText('paused'),
    privacy: noticeText(language, 'link'),
    expired: noticeText(language, 'expired'),
    gone: noticeText(language, 'gone'),
  }
}
