import type { Language } from '../../platform/text/languages.ts'
import type { ReviewPurpose } from './template.ts'

/** Texts of messages to reviewers. The English one is sent, or another one if only that is approved. */
const reviewTexts: Partial<Record<Language, Record<ReviewPurpose, string>>> = {
  en: {
    review_request:
      '{company}: {student} asks you to confirm skills from work that you have seen. It takes about a minute: {link}',
    review_reminder: '{company}: {student} is still waiting for you to confirm skills. It takes about a minute: {link}',
  },
  hi: {
    review_request:
      '{company}: {student} ने आपसे उन कौशलों की पुष्टि करने का अनुरोध किया है जो आपने उनके काम में देखे हैं। इसमें लगभग एक मिनट लगता है: {link}',
    review_reminder: '{company}: {student} को अब भी आपकी पुष्टि का इंतज़ार है। इसमें लगभग एक मिनट लगता है: {link}',
  },
}

/** Returns the text with the name of the organisation as fixed text, and with the variables {student} and {link}. */
export function reviewText(purpose: ReviewPurpose, language: Language, company: string): string | undefined {
  return reviewTexts[language]?.[purpose].replace('{company}', () => company)
}
