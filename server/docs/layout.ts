import packageJson from '../../package.json' with { type: 'json' }
import { escapeHtml } from '../platform/text/escape-html.ts'
import { createPlainPageRenderer } from '../web-assets/plain-page.ts'
import { API_REFERENCE_PATH, apiDescriptions, TRY_REQUEST_PATH } from './api-descriptions.ts'
import { BRUNO_PATH, POSTMAN_PATH } from './collections.ts'
import type { ParsedPage } from './markdown.ts'
import { type DocsPage, VERSIONS_PATH } from './pages.ts'
import type { SearchResult } from './search.ts'

/** On phones, the table of contents follows the text; the header links to it. On wide screens, it is a column on the left. */
const { headers, render } = createPlainPageRenderer(`
:root{--line:#d9d7cf;--soft:#f6f5f1;--field:#858b86;--mark:#fff3c4}
@media (prefers-color-scheme:dark){:root{--line:#333b37;--soft:#1b211e;--field:#79837d;--mark:#5c4a00}mark{color:inherit}}
body{padding:0}main,.contents,.top,footer{padding:16px;box-sizing:border-box;min-width:0;max-width:56rem;margin:0 auto}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;padding:8px;background:var(--page);color:var(--accent)}
.top{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:center;max-width:80rem;border-bottom:1px solid var(--line)}
.top a,.contents a,.toc a{display:inline-block;padding:5px 0}.top form{display:flex;gap:8px;flex:1 1 14rem;min-width:0}
input{flex:1;min-width:0;min-height:44px;padding:4px 10px;box-sizing:border-box;border:1px solid var(--field);border-radius:6px;font:inherit;color:inherit;background:transparent}
.top button,main button{min-height:44px;padding:4px 16px}main form{display:flex;gap:8px;margin:1em 0}
h2,h3,h4{line-height:1.3;margin:1.6em 0 .5em}h2{font-size:1.3em}h3{font-size:1.1em}.contents h2{font-size:1em;margin:1.2em 0 .2em}
main{overflow-wrap:anywhere}ul,ol{padding-left:1.4em}.contents ul,.toc ul,.results{list-style:none;padding:0;margin:0}
code{font:.9em/1.5 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;background:var(--soft);border-radius:4px;padding:1px 4px}
pre{overflow-x:auto;padding:12px;border-radius:6px;background:var(--soft)}pre code{padding:0}p code,li code{display:inline-block;max-width:100%;padding-block:0}
pre,.scroll{overflow-wrap:normal}.scroll{overflow-x:auto;margin:1em 0}table{border-collapse:collapse;font-size:.92em}
th,td{padding:6px 10px;border:1px solid var(--line);text-align:left;vertical-align:top;min-width:5em}td.right,th.right{text-align:right}
td code{white-space:nowrap}tr:target,mark{background:var(--mark)}[id]{scroll-margin-top:12px}
.toc{border:1px solid var(--line);border-radius:6px;padding:8px 14px}.results li{margin:0 0 1.2em}.results p{margin:.2em 0}
h3+.fields,.fields{list-style:none;padding:0;margin:.4em 0}.fields>li{padding:.55em 0;border-bottom:1px solid var(--line)}.fields>li:last-child{border-bottom:0}
details details,details .fields{margin-left:2px;padding-left:14px;border-left:2px solid var(--line)}summary{cursor:pointer;padding:5px 0;min-height:24px}summary:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.type{color:var(--text-soft)}.fields>li>code:first-child,.call code{font-weight:650}.call code{padding:4px 8px}main h2+.call{margin-top:0}
footer{max-width:80rem;border-top:1px solid var(--line);font-size:.9em}footer a{display:inline-block;padding:4px 0}[tabindex]:focus-visible,input:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.top a,.contents a{color:var(--text);text-decoration:none}.contents a{color:var(--text-soft)}
.top a:hover,.contents a:hover{text-decoration:underline}.contents a[aria-current]{color:var(--accent);font-weight:650}
.top .wordmark{display:inline-flex}.top a:not(.wordmark){font-size:.94em}
@media (max-width:36rem){.top{gap:2px 12px}.top a:not(.wordmark){font-size:.86em}.top .wordmark,.top form{flex-basis:100%}.top .version{display:none}.top form{margin-top:6px}}
@media (min-width:64rem){.layout{display:grid;grid-template-columns:17rem minmax(0,1fr);max-width:80rem;margin:0 auto}
main{grid-column:2;grid-row:1;margin:0;width:100%}.contents{grid-column:1;grid-row:1;margin:0;font-size:.92em;position:sticky;top:0;max-height:100vh;overflow-y:auto;align-self:start}.to-contents{display:none!important}}
@media print{.top,.contents,.toc,.skip{display:none}}`)

export const docsPageHeaders = headers

/** A group of links beside the text. */
interface LinkGroup {
  title: string
  entries: { page: { path: string; title: string } }[]
}

/** Parts of a documentation page; `body` is escaped markup. */
interface LayoutParts {
  title: string
  body: string
  contents: LinkGroup[]
  currentPath?: string
  /** The page whose Markdown is served too. */
  markdownOf?: DocsPage
  query?: string
}

/** Returns the HTML of a page with header, table of contents and footer. */
export function renderLayout({ title, body, contents, currentPath, markdownOf, query = '' }: LayoutParts): string {
  const markdownPath = markdownOf && escapeHtml(`${markdownOf.path}.md`)
  return render({
    language: 'en',
    title,
    body,
    head: markdownPath ? `<link rel="alternate" type="text/markdown" href="${markdownPath}">\n` : '',
    beforeMain: `<a class="skip" href="#main">Skip to the text</a>
<header class="top">
<a class="wordmark" href="/docs">Attestry documentation</a>
<a class="version" href="${VERSIONS_PATH}">Version ${escapeHtml(packageJson.version)}</a>
<a href="${API_REFERENCE_PATH}">API reference</a>
<a href="${TRY_REQUEST_PATH}">Send a test request</a>
<a class="to-contents" href="#contents">Contents</a>
<form action="/docs/search" role="search"><input type="search" name="q" maxlength="200" aria-label="Search the documentation" placeholder="Search" value="${escapeHtml(query)}"><button>Search</button></form>
</header>
<div class="layout">
`,
    afterMain: `${renderContents(contents, currentPath)}</div>
<footer>Attestry ${escapeHtml(packageJson.version)} · <a href="${VERSIONS_PATH}">Versions</a> · <a href="/docs/changelog">Changelog</a>${
      markdownPath ? ` · <a href="${markdownPath}">This page as Markdown</a>` : ''
    } · <a href="/llms.txt">llms.txt</a></footer>
`,
  })
}

function renderContents(contents: LinkGroup[], currentPath: string | undefined): string {
  const groups = contents.map(({ title, entries }) => {
    const items = entries.map(
      ({ page }) =>
        `<li><a href="${escapeHtml(page.path)}"${page.path === currentPath ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`,
    )
    return `<h2>${escapeHtml(title)}</h2>\n<ul>${items.join('\n')}</ul>\n`
  })
  return `<nav class="contents" id="contents" aria-label="Contents">\n${groups.join('')}</nav>\n`
}

/** Returns links to the headings of the second level, if there are enough to choose from. */
export function renderPageContents({ headings }: ParsedPage): string {
  const topHeadings = headings.filter(({ depth }) => depth === 2)
  if (topHeadings.length < 3) return ''
  const items = topHeadings.map(({ id, text }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`)
  return `<nav class="toc" aria-label="On this page"><ul>${items.join('\n')}</ul></nav>\n`
}

/** Returns the links to the API reference that the overview starts with. */
export function renderApiLinks(): string {
  const items = apiDescriptions.map(
    ({ title, slug, url }) =>
      `<li><a href="${API_REFERENCE_PATH}?api=${slug}">${escapeHtml(title)}</a> (<a href="${TRY_REQUEST_PATH}?api=${slug}">send a test request<span hidden> to ${escapeHtml(title)}</span></a>, <a href="${url}">OpenAPI description<span hidden> of ${escapeHtml(title)}</span></a>)</li>`,
  )
  return `<h2 id="api-reference">API reference</h2>\n<p>Every endpoint, field and error, with code samples:</p>\n<ul>${items.join('\n')}</ul>\n<p>Collections that sign requests: <a href="${POSTMAN_PATH}">Postman</a>, <a href="${BRUNO_PATH}">Bruno (ZIP)</a>.</p>\n`
}

/** Returns the results. If there are none, `correction` is suggested. */
export function renderSearchResults(
  query: string,
  words: string[],
  results: SearchResult[],
  correction: string | undefined,
): string {
  if (words.length === 0) return '<p>Enter one or more words, such as a term, a field or an error code.</p>'
  if (results.length === 0)
    return `<p>No page contains ${words.length === 1 ? 'this word' : 'all of these words'}: <strong>${escapeHtml(query)}</strong>. ${
      correction
        ? `Did you mean <a href="/docs/search?q=${encodeURIComponent(correction)}">${escapeHtml(correction)}</a>?`
        : 'Check the spelling, or use fewer words.'
    }</p>`
  const items = results.map(({ page, heading, anchor, excerpt }) => {
    const url = anchor ? `${page.path}#${anchor}` : page.path
    const title = heading ? `${page.title}: ${heading}` : page.title
    return `<li><a href="${escapeHtml(url)}">${escapeHtml(title)}</a>\n<p>${markWords(excerpt, words)}</p></li>`
  })
  return `<ol class="results">${items.join('\n')}</ol>`
}

function markWords(text: string, words: string[]): string {
  // Words consist of letters, digits and underscores: they need no escaping.
  return text
    .split(new RegExp(`(${words.join('|')})`, 'giu'))
    .map((part, index) => (index % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part)))
    .join('')
}
