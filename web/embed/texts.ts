import type { PageLanguage } from '../languages.ts'

export interface EmbedTexts {
  loading: string
  retry: string
  expired: string
  unsent: string
  erased: string
  paused: string
  offline: string
  failed: string
  notEmbedded: string
}

export const texts: Record<PageLanguage, EmbedTexts> = {
  en: {
    loading: 'Loading…',
    retry: 'Try again',
    expired: 'This page has expired. Reload the page that contains it.',
    unsent:
      'This page has expired. Text that you have not sent is not saved. Copy it, then reload the page that contains this one.',
    erased: 'The data that was shown here was deleted.',
    paused: 'This service is not available at the moment. Try again later.',
    offline: 'There is no internet connection.',
    failed: 'The page could not be loaded.',
    notEmbedded: 'This page can only be shown on the website of the organisation.',
  },
  hi: {
    loading: 'लोड हो रहा है…',
    retry: 'फिर से कोशिश करें',
    expired: 'इस पेज का समय समाप्त हो गया है। जिस पेज पर यह दिखता है, उसे फिर से लोड करें।',
    unsent:
      'इस पेज का समय समाप्त हो गया है। जो आपने नहीं भेजा है, वह सहेजा नहीं गया है। उसे कॉपी करें, फिर जिस पेज पर यह दिखता है, उसे फिर से लोड करें।',
    erased: 'यहाँ दिखाया गया डेटा हटा दिया गया है।',
    paused: 'यह सेवा अभी उपलब्ध नहीं है। बाद में फिर से कोशिश करें।',
    offline: 'इंटरनेट कनेक्शन नहीं है।',
    failed: 'पेज लोड नहीं हो सका।',
    notEmbedded: 'यह पेज केवल संगठन की वेबसाइट पर दिखाया जा सकता है।',
  },
}
