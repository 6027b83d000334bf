import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { escapeHtml } from '../platform/text/escape-html.ts'

/** A page that consists of one HTML file, without scripts: it also works where the pages of `web/` are not built. */
export interface PlainPage {
  language: string
  title: string
  /** Escaped markup. */
  body: string
  /** Escaped markup of the head, before and after the main part. */
  head?: string
  beforeMain?: string
  afterMain?: string
  /** CSS of this page only. A page with such a style can also show images of this server. */
  ownStyle?: string
}

/** Renders plain pages of one kind, and lists the headers that their responses need. */
interface PlainPageRenderer {
  headers: Record<string, string>
  /** Returns the headers of a page that has a style of its own. */
  headersFor(page: Pick<PlainPage, 'ownStyle'>): Record<string, string>
  render(page: PlainPage): string
}

/** The colours of web/ui/base.css, which these pages do not load. */
const BASE_STYLE = `:root{color-scheme:light dark;--text:#1b2420;--text-soft:#56605b;--page:#fff;--paper:#f6f5f1;--card:#fff;--card-line:#d9d7cf;--accent:#0a6550;--accent-text:#fff;--accent-tint:#e3f0eb;--focus:#1d5fd1}
@media (prefers-color-scheme:dark){:root{--text:#e9ece9;--text-soft:#a5aea9;--page:#121714;--paper:#121714;--card:#1b211e;--card-line:#333b37;--accent:#57c3a3;--accent-text:#08251c;--accent-tint:#17352c;--focus:#8ab4ff}}
body{margin:0;padding:24px 16px;font:17px/1.5 system-ui,'Noto Sans',sans-serif;color:var(--text);background:var(--page)}
main{max-width:46rem;margin:0 auto}h1{font-size:1.5em;line-height:1.3;margin:0 0 .3em}
a{color:var(--accent);padding-block:.2em}a:focus-visible,button:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
button{min-height:48px;padding:8px 24px;border:0;border-radius:6px;background:var(--accent);color:var(--accent-text);font:inherit;font-weight:600}
.wordmark{display:inline-flex;align-items:center;gap:8px;font-weight:700;color:var(--text);text-decoration:none}
.wordmark::before{content:'';width:16px;height:16px;border-radius:5px;background:var(--accent)}
@media print{:root{color-scheme:light;--text:#000;--text-soft:#56605b;--page:#fff;--accent:#0a6550}body{padding:0;font-size:11pt}}`

/** CSS of pages that show their main part as a card, like the other pages of the product. */
export const CARD_STYLE = `
body{background:var(--paper)}main{box-sizing:border-box;padding:20px;border:1px solid var(--card-line);border-radius:12px;background:var(--card)}
@media (min-width:36rem){main{padding:28px 32px}}
@media print{body{background:var(--page)}main{padding:0;border:0;background:none}}`

/**
 * Returns a renderer of plain pages. `style` is added to the common style sheet. The Content-Security-Policy allows only this style, and
 * forms that are sent to the same server.
 */
export function createPlainPageRenderer(style = ''): PlainPageRenderer {
  const styleSheet = `${BASE_STYLE}${style}`
  const headersFor = ({ ownStyle }: Pick<PlainPage, 'ownStyle'>) => ({
    'content-security-policy': `default-src 'none'; style-src ${hashSource(styleSheet)}${ownStyle ? ` ${hashSource(ownStyle)}; img-src 'self'` : ''}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  })
  return {
    headers: headersFor({}),
    headersFor,
    render: ({ language, title, body, head = '', beforeMain = '', afterMain = '', ownStyle = '' }) => `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${head}<style>${styleSheet}</style>${ownStyle && `\n<style>${ownStyle}</style>`}
</head>
<body>
${beforeMain}<main id="main">
<h1>${escapeHtml(title)}</h1>
${body}
</main>
${afterMain}</body>
</html>
`,
  }
}

/** Returns the source of the Content-Security-Policy that allows a style. */
function hashSource(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}

/** Returns a function that sends plain pages, which search engines must not list. */
export function createPlainPageSender(style = '') {
  const { headersFor, render } = createPlainPageRenderer(style)
  return (reply: FastifyReply, status: number, page: PlainPage): FastifyReply =>
    reply
      .status(status)
      .type('text/html; charset=utf-8')
      .headers({ ...headersFor(page), 'x-robots-tag': 'noindex' })
      .send(render(page))
}
