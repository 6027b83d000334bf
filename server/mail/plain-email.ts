import { escapeHtml } from '../platform/text/escape-html.ts'
import type { Language } from '../platform/text/languages.ts'

interface PlainEmail {
  language: Language
  subject: string
  paragraphs: string[]
}

/** Returns an email that consists of paragraphs, as text and as HTML. */
export function plainEmail({ language, subject, paragraphs }: PlainEmail) {
  const body = paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`).join('\n')
  return {
    subject,
    text: paragraphs.join('\n\n'),
    html: `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head><body>${body}</body></html>`,
  }
}
