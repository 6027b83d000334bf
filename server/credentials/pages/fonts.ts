import { createRequire } from 'node:module'

const resolveModule = createRequire(import.meta.url).resolve
const FONT_PACKAGE = '@expo-google-fonts/noto-sans-devanagari'

export const REGULAR_FONT = resolveModule(`${FONT_PACKAGE}/400Regular/NotoSansDevanagari_400Regular.ttf`)
export const BOLD_FONT = resolveModule(`${FONT_PACKAGE}/700Bold/NotoSansDevanagari_700Bold.ttf`)

/** Returns whether the fonts have all characters of a text: Latin letters with accents, Devanagari and punctuation. */
export function isDrawable(text: string): boolean {
  return /^[\u0020-\u024f\u0900-\u097f\u2010-\u2027\u20b9]*$/.test(text)
}

/** Returns whether a text can be drawn without shaping, which joins the letters of Devanagari. */
export function isDrawableUnshaped(text: string): boolean {
  return /^[\u0020-\u024f\u2010-\u2027]*$/.test(text)
}
