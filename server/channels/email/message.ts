import { brandEmail, buttonHtml, emailHtml, linkHtml, paragraphHtml, smallHtml } from '../../mail/email-html.ts'
import { type EmailContent, toHeaderValue } from '../../mail/mail.ts'
import { noticeText } from '../../notices/notice.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { prompt } from '../../questions/prompts.ts'
import type { OutgoingMessage } from '../channel.ts'
import { linkLine, noticeLine, promptText, questionIn } from '../message-text.ts'

/** Renders an email that links to the candidate's page. */
export function emailContent(
  message: OutgoingMessage,
): Pick<EmailContent, 'subject' | 'text' | 'html' | 'fromName' | 'replyTo'> {
  const { language, title, company, brand } = message
  const subject = toHeaderValue(prompt('email_subject', language, { title, company }))
  const linkLabel = questionIn(message.prompts) ? prompt('page_answer', language) : prompt('language_name', language)
  const html = renderHtml(message, subject, linkLabel)
  return brandEmail(
    {
      subject,
      text: `${emailText(message)}
`,
      html,
    },
    brand,
  )
}

/** Returns the plain text of an email: the prompts, the link to the candidate's page, and the link to opt out. */
export function emailText(message: Pick<OutgoingMessage, 'prompts' | 'language' | 'link' | 'unsubscribeUrl'>): string {
  const { language, unsubscribeUrl } = message
  return [
    promptText(message),
    linkLine(message),
    noticeLine(message),
    prompt('email_stop', language, { link: unsubscribeUrl }),
  ].join('\n\n')
}

function renderHtml(
  { prompts, language, link, unsubscribeUrl, brand }: OutgoingMessage,
  subject: string,
  label: string,
) {
  const paragraphs = prompts.flatMap(({ text }) => text.split('\n')).map((line) => paragraphHtml(line))
  const stopText = escapeHtml(prompt('email_stop', language, { link: unsubscribeUrl })).replace(
    escapeHtml(unsubscribeUrl),
    () => linkHtml(unsubscribeUrl, brand),
  )
  return emailHtml({
    language,
    title: subject,
    body: [
      ...paragraphs,
      buttonHtml(label, link, brand),
      smallHtml(linkHtml(link, brand), '0 0 24px'),
      smallHtml(linkHtml(`${link}/data`, brand, noticeText(language, 'link')), '0 0 8px'),
      smallHtml(stopText),
    ].join('\n'),
    brand,
  })
}
