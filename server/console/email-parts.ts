import type { EmailBrand } from '../branding/email-brand.ts'
import {
  buttonHtml,
  linkHtml,
  PARAGRAPH_STYLE,
  paragraphHtml,
  boxHtml as renderBox,
  emailHtml as renderEmail,
} from '../mail/email-html.ts'
import type { AccountLanguage } from './auth/account-language.ts'

// Parts of the emails to members and operators, which have the look of the product.

const PRODUCT: EmailBrand = { name: 'Attestry', logo: null, colour: null, replyTo: null, footer: null, homepage: null }

export function emailParagraph(text: string): string {
  return paragraphHtml(text)
}

/** Returns a value that stands out, such as a code. */
export function emailBox(title: string, value: string): string {
  return renderBox(title, [value], PRODUCT)
}

export function emailLink(label: string, url: string): string {
  return `<p style="${PARAGRAPH_STYLE}">${linkHtml(url, PRODUCT, label)}</p>`
}

/** Returns the main action of an email. */
export function emailButton(label: string, url: string): string {
  return buttonHtml(label, url, PRODUCT)
}

/** Returns a list of links; an empty string without links. */
export function emailLinkList(links: { label: string; url: string }[]): string {
  if (links.length === 0) return ''
  return `<ul style="${PARAGRAPH_STYLE}">${links.map(({ label, url }) => `<li>${linkHtml(url, PRODUCT, label)}</li>`).join('')}</ul>`
}

export function emailHtml(language: AccountLanguage, title: string, parts: string[]): string {
  return renderEmail({ language, title, body: parts.join('\n'), brand: PRODUCT })
}
