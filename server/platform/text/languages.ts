/** ISO 639-1 codes of the languages in which candidates and students can be asked questions. */
export const LANGUAGES = ['en', 'hi', 'bn', 'ta', 'te', 'mr', 'gu', 'kn', 'ml', 'pa', 'or', 'as'] as const
export type Language = (typeof LANGUAGES)[number]
