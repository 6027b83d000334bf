import { createRequire } from 'node:module'

const resolveModule = createRequire(import.meta.url).resolve
const FONT_PACKAGE = '@expo-google-fonts/noto-sans-devanagari'

export const REGULAR_FONT = resolveModule(`${FONT_PACKAGE}/400Regular/NotoSansDevanagari_400Regular.ttf`)
export const BOLD_FONT = resolveModule(`${FONT_PACKAGE}/700Bold/NotoSansDevanagari_700Bold.ttf`)

/** Characters of the fonts: Latin letters with most accents, and punctuation. `fonts.test.ts` compares them with the files. */
const LATIN =
  ' -~\\u00a0-\\u00a3\\u00a5\\u00a7-\\u00ab\\u00ad-\\u00b0\\u00b4\\u00b6-\\u00b8\\u00ba\\u00bb\\u00bf-\\u0107\\u010a-\\u0113\\u0116-\\u011b' +
  '\\u011e-\\u0123\\u0126\\u0127\\u012a\\u012b\\u012e-\\u0131\\u0136\\u0137\\u0139-\\u013e\\u0141-\\u0148\\u0150-\\u0155\\u0158-\\u015b' +
  '\\u015e-\\u0161\\u0164\\u0165\\u016a\\u016b\\u016e-\\u017e\\u0218-\\u021b\\u0237\\u2010\\u2013\\u2014\\u2018-\\u201a\\u201c-\\u201e\\u2022\\u2026'
/** Devanagari with the joiners that control its ligatures, and the rupee sign. */
const DEVANAGARI = '\\u0900-\\u097f\\u200c\\u200d\\u20b9'

const DRAWABLE = new RegExp(`^[${LATIN}${DEVANAGARI}]*$`)
const DRAWABLE_UNSHAPED = new RegExp(`^[${LATIN}]*$`)
const UNDRAWABLE_RUN = new RegExp(
  `[^${LATIN}${DEVANAGARI}](?:[^${LATIN}${DEVANAGARI}]|[ ,.-]+(?=[^${LATIN}${DEVANAGARI}]))*`,
  'gu',
)

/** Returns whether the fonts have all characters of a text: Latin letters with accents, Devanagari and punctuation. */
export function isDrawable(text: string): boolean {
  return DRAWABLE.test(text)
}

/** Returns whether a text can be drawn without shaping, which joins the letters of Devanagari. */
export function isDrawableUnshaped(text: string): boolean {
  return DRAWABLE_UNSHAPED.test(text)
}

/** Scripts of the languages that candidates use, by the name of their Unicode property. */
const SCRIPT_NAMES: Record<string, string> = {
  Arabic: 'Arabic',
  Bengali: 'Bengali',
  Gujarati: 'Gujarati',
  Gurmukhi: 'Gurmukhi',
  Kannada: 'Kannada',
  Malayalam: 'Malayalam',
  Oriya: 'Odia',
  Tamil: 'Tamil',
  Telugu: 'Telugu',
}
const SCRIPTS = Object.entries(SCRIPT_NAMES).map(([property, name]) => ({
  name,
  pattern: new RegExp(`\\p{Script=${property}}`, 'u'),
}))

/** Replaces the characters that the fonts lack by a note such as "[Tamil text]": empty boxes look like an error. */
export function replaceUndrawable(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .replace(UNDRAWABLE_RUN, (run) => `[${SCRIPTS.find(({ pattern }) => pattern.test(run))?.name ?? 'other'} text]`)
}
