import type { Mode } from '../../access/keys.ts'
import type { AccountLanguage } from '../auth/account-language.ts'

/** Texts of the emails to owners about keys that expire and about failing webhook endpoints. */
interface NoticeTexts {
  keys: {
    subject: (organisation: string, mode: Mode, count: number, days: number) => string
    intro: (organisation: string, mode: Mode, count: number) => string
    instructions: string
    button: string
  }
  endpoint: {
    subject: (organisation: string) => string
    intro: (organisation: string, mode: Mode, url: string) => string
    instructions: string
    button: string
  }
  /** Returns a time in India. */
  time: (time: Date) => string
}

const HINDI_MODES: Record<Mode, string> = { test: 'टेस्ट', live: 'लाइव' }

export const NOTICE_TEXTS: Record<AccountLanguage, NoticeTexts> = {
  en: {
    keys: {
      subject: (organisation, mode, count, days) => {
        const wait = days === 1 ? '1 day' : `${days} days`
        return count === 1
          ? `A ${mode.toUpperCase()} key of ${organisation} expires in ${wait}`
          : `${count} ${mode.toUpperCase()} keys of ${organisation} expire soon, the first in ${wait}`
      },
      intro: (organisation, mode, count) =>
        count === 1
          ? `This ${mode.toUpperCase()} key of ${organisation} expires soon. Calls with an expired key are rejected.`
          : `These ${mode.toUpperCase()} keys of ${organisation} expire soon. Calls with an expired key are rejected.`,
      instructions:
        'Create a new key, use it in your system, and revoke the old one when it is no longer used. The list of keys shows when each key was last used:',
      button: 'Open the keys',
    },
    endpoint: {
      subject: (organisation) => `A webhook endpoint of ${organisation} is failing`,
      intro: (organisation, mode, url) =>
        `All deliveries to the webhook endpoint ${url} of ${organisation} (${mode.toUpperCase()}) have failed for a day.`,
      instructions:
        'The endpoint stays enabled: events are stored for 30 days, and deliveries are retried. View its responses:',
      button: 'Open the endpoint',
    },
    time: (time) => `${indianTime(time, 'en-IN')} IST`,
  },
  hi: {
    keys: {
      subject: (organisation, mode, count, days) =>
        count === 1
          ? `${organisation} की एक ${HINDI_MODES[mode]} API कुंजी ${days} दिन में समाप्त हो जाएगी`
          : `${organisation} की ${count} ${HINDI_MODES[mode]} API कुंजियाँ जल्द समाप्त हो जाएँगी, पहली ${days} दिन में`,
      intro: (organisation, mode, count) =>
        count === 1
          ? `${organisation} की यह ${HINDI_MODES[mode]} API कुंजी जल्द समाप्त होने वाली है। समाप्त हो चुकी कुंजी से API कॉल नहीं होतीं।`
          : `${organisation} की ये ${HINDI_MODES[mode]} API कुंजियाँ जल्द समाप्त होने वाली हैं। समाप्त हो चुकी कुंजी से API कॉल नहीं होतीं।`,
      instructions:
        'नई कुंजी बनाएँ, उसे अपने सिस्टम में लगाएँ, और जब पुरानी कुंजी का इस्तेमाल बंद हो जाए, तो उसे निरस्त करें। कुंजियों की सूची में दिखता है कि हर कुंजी आखिरी बार कब इस्तेमाल हुई:',
      button: 'कुंजियाँ देखें',
    },
    endpoint: {
      subject: (organisation) => `${organisation} का एक वेबहुक एंडपॉइंट काम नहीं कर रहा है`,
      intro: (organisation, mode, url) =>
        `${organisation} (${HINDI_MODES[mode]}) के वेबहुक एंडपॉइंट ${url} पर एक दिन से कोई डिलीवरी सफल नहीं हुई है।`,
      instructions:
        'एंडपॉइंट चालू रहता है: इवेंट 30 दिन तक सहेजे जाते हैं, और डिलीवरी की कोशिश बार-बार की जाती है। उसके जवाब यहाँ देखें:',
      button: 'एंडपॉइंट देखें',
    },
    time: (time) => `${indianTime(time, 'hi-IN')} (भारतीय समय)`,
  },
}

/** Returns a date and a time, such as “11 March 2026, 12:00”. */
function indianTime(time: Date, locale: string): string {
  const timeZone = 'Asia/Kolkata'
  const date = time.toLocaleDateString(locale, { day: 'numeric', month: 'long', year: 'numeric', timeZone })
  return `${date}, ${time.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone })}`
}
