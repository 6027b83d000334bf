import type { EmailBrand } from '../branding/email-brand.ts'
import type { Language } from '../platform/text/languages.ts'
import { brandEmail, emailHtml, paragraphHtml } from './email-html.ts'

interface PlainEmail {
  language: Language
  subject: string
  paragraphs: string[]
  brand: EmailBrand | undefined
}

/** Returns an email that consists of paragraphs, as text and as HTML. */
export function plainEmail({ language, subject, paragraphs, brand }: PlainEmail) {
  const body = paragraphs.map((paragraph) => paragraphHtml(paragraph)).join('\n')
  const html = emailHtml({ language, title: subject, body, brand })
  return brandEmail({ subject, text: paragraphs.join('\n\n'), html }, brand)
}
