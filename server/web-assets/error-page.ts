import type { ErrorPage, ErrorPageInput } from '../platform/http/server.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { CARD_STYLE, createPlainPageRenderer } from './plain-page.ts'

const { headers, render } = createPlainPageRenderer(`${CARD_STYLE}
header,main{max-width:36rem}header{margin:8vh auto 16px}.status{color:var(--text-soft);font-weight:600;margin:0 0 1.5em}ul{padding-left:1.2em}li a{display:inline-block;padding:4px 0}
.id{color:var(--text-soft);font-size:.85em;overflow-wrap:anywhere}`)

const HEADER = '<header><a class="wordmark" href="/">Attestry</a></header>\n'

/** Renders an error for people who opened an address in a browser. Programs get JSON. */
export function renderErrorPage({ status, message, requestId }: ErrorPageInput): ErrorPage {
  const { title, text } = describeError(status, message)
  const body = `<p class="status">Error ${status}</p>
<p>${escapeHtml(text)}</p>
<ul>
<li><a href="/">Start page of this server</a></li>
<li><a href="/console">Console</a></li>
<li><a href="/docs">Documentation</a></li>
</ul>
<p class="id">Request ID: ${escapeHtml(requestId)}</p>`
  return {
    html: render({ language: 'en', title, body, beforeMain: HEADER }),
    headers: { ...headers, 'x-robots-tag': 'noindex' },
  }
}

function describeError(status: number, message: string): { title: string; text: string } {
  if (status === 404)
    return {
      title: 'Page not found',
      text: 'There is no page at this address. If you typed it, check it. If you received a link, copy all of it, or ask for a new one.',
    }
  if (status === 503)
    return {
      title: 'Not available at the moment',
      text: 'The server cannot show this page at the moment. Try again in a minute.',
    }
  if (status >= 500)
    return {
      title: 'The server has a problem',
      text: 'The page could not be shown because of an error on the server. Try again later. If it fails again, send the request ID to the operator of this server.',
    }
  if (status === 429) return { title: 'Too many requests', text: message }
  return {
    title: 'The page cannot be shown',
    text: 'The server did not accept the request. If you received a link, copy all of it, or ask for a new one.',
  }
}
