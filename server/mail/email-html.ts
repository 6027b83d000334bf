import type { EmailBrand } from '../branding/email-brand.ts'
import { hostOf } from '../branding/page-parts.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import type { EmailContent } from './mail.ts'

/**
 * Parts of emails in HTML that renders in common email clients: many of them support only table layouts and inline styles. All text is
 * escaped.
 */

const FONT_STYLE = "font-family:-apple-system,'Segoe UI',Roboto,'Noto Sans','Noto Sans Devanagari',Arial,sans-serif"
export const PARAGRAPH_STYLE = `margin:0 0 16px;${FONT_STYLE};font-size:16px;line-height:24px;color:#1b2420`
const SMALL_STYLE = `${FONT_STYLE};font-size:13px;line-height:20px;color:#56605b`
/** The colours of web/ui/base.css. */
const DEFAULT_COLOUR = '#0a6550'
const PAGE_COLOUR = '#f6f5f1'

export function paragraphHtml(text: string, language?: string): string {
  return `<p${language ? ` lang="${language}"` : ''} style="${PARAGRAPH_STYLE}">${escapeHtml(text)}</p>`
}

/** Renders a paragraph in small type. `html` is escaped by the caller. */
export function smallHtml(html: string, margin = '0 0 16px'): string {
  return `<p style="margin:${margin};${SMALL_STYLE}">${html}</p>`
}

export function linkHtml(url: string, brand: EmailBrand | undefined, label = url): string {
  const wordBreak = label === url ? ';word-break:break-all' : ''
  return `<a href="${escapeHtml(url)}" style="color:${colourOf(brand)}${wordBreak}">${escapeHtml(label)}</a>`
}

export function boxHtml(title: string, lines: string[], brand: EmailBrand | undefined): string {
  const rows = lines.map(
    (line) =>
      `<tr><td style="padding:4px 16px 4px;${FONT_STYLE};font-size:16px;line-height:24px;color:#1b2420">${escapeHtml(line)}</td></tr>`,
  )
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 24px;background:#f6f5f1;border-left:4px solid ${colourOf(brand)}">
<tr><td style="padding:12px 16px 4px;${FONT_STYLE};font-size:14px;line-height:20px;color:#56605b">${escapeHtml(title)}</td></tr>
${rows.join('\n')}
<tr><td style="height:8px;font-size:0;line-height:0">&nbsp;</td></tr>
</table>`
}

export function buttonHtml(label: string, url: string, brand: EmailBrand | undefined): string {
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 24px">
<tr><td bgcolor="${colourOf(brand)}" style="border-radius:6px"><a href="${escapeHtml(url)}" style="display:inline-block;padding:12px 28px;${FONT_STYLE};font-size:16px;line-height:24px;font-weight:600;color:#ffffff;text-decoration:none">${escapeHtml(label)}</a></td></tr>
</table>`
}

interface EmailDocument {
  language: string
  title: string
  /** Escaped markup. */
  body: string
  brand: EmailBrand | undefined
}

/** Renders a complete email: the name and the logo of the organisation, the body, and its footer. */
export function emailHtml({ language, title, body, brand }: EmailDocument): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${escapeHtml(title)}</title>
</head>
<body style="margin:0;padding:0;background:${PAGE_COLOUR}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="${PAGE_COLOUR}">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#ffffff" style="max-width:560px;border-radius:8px">
${brand ? `${headerHtml(brand)}\n` : ''}<tr><td align="left" style="padding:${brand ? 24 : 32}px 28px 16px">
${body}
</td></tr>
${brand ? `${footerHtml(brand)}\n` : ''}</table>
</td></tr>
</table>
</body>
</html>
`
}

function headerHtml(brand: EmailBrand): string {
  const { name, logo } = brand
  const image = logo
    ? `<td style="padding:0 12px 0 0"><img src="${escapeHtml(logo.url)}" width="${logo.width}" height="${logo.height}" alt="" style="display:block;border:0"></td>`
    : ''
  return `<tr><td align="left" style="padding:20px 28px;border-top:4px solid ${colourOf(brand)};border-bottom:1px solid #d9d7cf;border-radius:8px 8px 0 0"><table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr>${image}<td style="${FONT_STYLE};font-size:18px;line-height:24px;font-weight:600;color:#1b2420">${escapeHtml(name)}</td></tr></table></td></tr>`
}

function footerHtml(brand: EmailBrand): string {
  const lines = [brand.name, ...(brand.footer ? [brand.footer] : [])].map(escapeHtml)
  if (brand.homepage) lines.push(linkHtml(brand.homepage, brand, hostOf(brand.homepage)))
  return `<tr><td align="left" style="padding:16px 28px 20px;border-top:1px solid #d9d7cf">${smallHtml(lines.join('<br>'), '0')}</td></tr>`
}

/** Adds the organisation to an email: its name at the start and the footer at the end of the text, the sender and the reply address. */
export function brandEmail<Content extends Pick<EmailContent, 'subject' | 'text' | 'html' | 'fromName' | 'replyTo'>>(
  content: Content,
  brand: EmailBrand | undefined,
): Content {
  if (!brand) return content
  const { name, footer, homepage, replyTo } = brand
  const footerLines = ['-- ', name, ...(footer ? [footer] : []), ...(homepage ? [homepage] : [])]
  return {
    ...content,
    text: [name, content.text.trimEnd(), footerLines.join('\n')].join('\n\n'),
    fromName: name,
    ...(replyTo ? { replyTo } : {}),
  }
}

function colourOf(brand: EmailBrand | undefined): string {
  return brand?.colour ?? DEFAULT_COLOUR
}
