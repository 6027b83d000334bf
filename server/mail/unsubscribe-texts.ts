import type { FastifyRequest } from 'fastify'

/** The languages of the review page. */
export type PageLanguage = 'en' | 'hi'

export interface UnsubscribeTexts {
  title: string
  question: string
  button: string
  done: string
}

/** Returns the language that was chosen on the page, or else the browser's. */
export function pageLanguageOf({ query, headers }: FastifyRequest): PageLanguage {
  const { lang } = query as { lang?: unknown }
  if (lang === 'en' || lang === 'hi') return lang
  const [, firstLanguage] = /(?:^|,)\s*(en|hi)\b/i.exec(String(headers['accept-language'] ?? '')) ?? []
  return firstLanguage?.toLowerCase() === 'hi' ? 'hi' : 'en'
}

export const REVIEWER_TEXTS: Record<PageLanguage, UnsubscribeTexts> = {
  en: {
    title: 'Stop review requests',
    question: 'Do you want to stop all review requests by email, from every student and organisation on this server?',
    button: 'Stop review requests',
    done: 'You will get no more review requests by email from this server. You can close this page.',
  },
  hi: {
    title: 'समीक्षा के अनुरोध बंद करें',
    question: 'क्या आप चाहते हैं कि इस सर्वर के किसी भी छात्र या संस्था की तरफ़ से समीक्षा का अनुरोध ईमेल पर न आए?',
    button: 'अनुरोध बंद करें',
    done: 'अब इस सर्वर से समीक्षा का कोई अनुरोध ईमेल पर नहीं आएगा। आप यह पेज बंद कर सकते हैं।',
  },
}

export const STUDENT_TEXTS: Record<PageLanguage, UnsubscribeTexts> = {
  en: {
    title: 'Stop emails about reviews',
    question: 'Do you want to stop emails about reviews of your skills?',
    button: 'Stop these emails',
    done: 'You will get no more emails about reviews from this server. You can close this page.',
  },
  hi: {
    title: 'समीक्षा के ईमेल बंद करें',
    question: 'क्या आप चाहते हैं कि आपके हुनर की समीक्षा के बारे में ईमेल न आए?',
    button: 'ईमेल बंद करें',
    done: 'अब इस सर्वर से समीक्षा का कोई ईमेल नहीं आएगा। आप यह पेज बंद कर सकते हैं।',
  },
}

export const UNKNOWN_LINK_TEXTS: Record<PageLanguage, { title: string; text: string }> = {
  en: {
    title: 'This link does not work',
    text: 'The link may be incomplete. Please open the link in the email again, or copy the whole address.',
  },
  hi: {
    title: 'यह लिंक काम नहीं कर रहा',
    text: 'हो सकता है लिंक अधूरा हो। कृपया ईमेल का लिंक फिर से खोलें, या पूरा पता कॉपी करें।',
  },
}
