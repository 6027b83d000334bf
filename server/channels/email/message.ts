import { toHeaderValue } from '../../mail/mail.ts'
import { noticeText } from '../../notices/notice.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { prompt } from '../../questions/prompts.ts'
import type { OutgoingMessage } from '../channel.ts'
import { linkLine, noticeLine, promptText, questionIn } from '../message-text.ts'

/** Renders an email that links to the candidate's page. */
export function emailContent(message: OutgoingMessage): { subject: string; text: string; html: string } {
  const { language, title, company, link } = message
  const subject = toHeaderValue(prompt('email_subject', language, { title, company }))
  const linkLabel = questionIn(message.prompts) ? prompt('page_answer', language) : prompt('language_name', language)
  return {
    subject,
    text: `${emailText(message)}\n`,
    html: emailHtml(message, subject, linkLabel, link),
  }
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

// Inline styles: many email clients drop style sheets.
const FONT_STYLE = "font-family:-apple-system,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif"
const PARAGRAPH_STYLE = `margin:0 0 16px;${FONT_STYLE};font-size:16px;line-height:24px;color:#1f2933`

function emailHtml(
  { prompts, language, unsubscribeUrl }: OutgoingMessage,
  subject: string,
  label: string,
  link: string,
): string {
  const href = escapeHtml(link)
  const stopHref = escapeHtml(unsubscribeUrl)
  const stopText = escapeHtml(prompt('email_stop', language, { link: unsubscribeUrl })).replace(
    stopHref,
    `<a href="${stopHref}" style="color:#1d5fbf;word-break:break-all">${stopHref}</a>`,
  )
  const paragraphs = prompts
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => `<p style="${PARAGRAPH_STYLE}">${escapeHtml(line)}</p>`)
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:24px 12px;background:#e9edf1">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" align="center" bgcolor="#ffffff" style="max-width:560px;border-radius:8px">
<tr><td style="padding:32px 28px">
${paragraphs.join('\n')}
<p style="margin:24px 0"><a href="${href}" style="display:inline-block;padding:12px 28px;border-radius:6px;background:#1d5fbf;${FONT_STYLE};font-size:16px;line-height:24px;font-weight:600;color:#ffffff;text-decoration:none">${escapeHtml(label)}</a></p>
<p style="margin:0;${FONT_STYLE};font-size:13px;line-height:20px;color:#52606d"><a href="${href}" style="color:#1d5fbf;word-break:break-all">${href}</a></p>
<p style="margin:24px 0 0;${FONT_STYLE};font-size:13px;line-height:20px;color:#52606d"><a href="${href}/data" style="color:#1d5fbf">${escapeHtml(noticeText(language, 'link'))}</a></p>
<p style="margin:8px 0 0;${FONT_STYLE};font-size:13px;line-height:20px;color:#52606d">${stopText}</p>
</td></tr>
</table>
</body>
</html>
`
}
