import type { Marked, Token, Tokens } from 'marked'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { headingId } from './heading-id.ts'
import { type DocsPage, ERRORS_FILE, type PageSet, resolveLink } from './pages.ts'

/** The error tables of errors.md: the heading above each, and the prefix of its anchors. */
const ERROR_TABLES: Record<string, string> = {
  'Partner API': 'partner',
  'Verification session API': 'verification',
  'Skill catalogue API': 'catalogue',
}

/** Statuses that a code has in addition to the one in its row: slow requests, unknown host names, large headers. */
const OTHER_STATUSES: Record<string, string[]> = { VALIDATION_FAILED: ['408', '421', '431'] }

/** A part of a page that a link can lead to: the text under a heading, or the row of an error code. */
export interface Section {
  heading: string
  /** Empty for the text before the first heading below the title. */
  anchor: string
  text: string
}

export interface ParsedPage {
  tokens: Token[]
  headings: { id: string; text: string; depth: number }[]
  idsByHeading: Map<Token, string>
  anchorsByRow: Map<Tokens.TableCell[], string[]>
  sections: Section[]
}

/** Parses Markdown without the title, assigns the anchors, and splits the text into sections. */
export function parsePage(marked: Marked, { file, markdown }: DocsPage): ParsedPage {
  const tokens = marked.lexer(markdown).filter((token) => !(isHeading(token) && token.depth === 1)) as Token[]
  let section: Section = { heading: '', anchor: '', text: '' }
  const parsed: ParsedPage = {
    tokens,
    headings: [],
    idsByHeading: new Map(),
    anchorsByRow: new Map(),
    sections: [section],
  }
  const usedIds = new Map<string, number>()
  let api: string | undefined
  for (const token of tokens) {
    if (isHeading(token)) {
      const text = plainText(token)
      const id = uniqueId(usedIds, text)
      parsed.idsByHeading.set(token, id)
      parsed.headings.push({ id, text, depth: token.depth })
      section = { heading: text, anchor: id, text: '' }
      parsed.sections.push(section)
      if (token.depth === 2) api = ERROR_TABLES[text]
    } else if (file === ERRORS_FILE && api && isErrorTable(token)) addErrorRows(parsed, token, api)
    else section.text += ` ${plainText(token)}`
  }
  return parsed
}

/** Returns the HTML of a parsed page. HTML in the Markdown is shown as text. */
export function renderPage(marked: Marked, pages: PageSet, page: DocsPage, parsed: ParsedPage): string {
  marked.use({
    renderer: {
      html: ({ text }) => (text.startsWith('<!--') ? '' : escapeHtml(text)),
      heading(token) {
        const { depth, tokens } = token
        const id = parsed.idsByHeading.get(token)
        return `<h${depth}${id ? ` id="${escapeHtml(id)}"` : ''}>${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        const target = resolveLink(pages, page, href)
        if ('url' in target) return `<a href="${escapeHtml(target.url)}">${text}</a>`
        return text.includes(escapeHtml(target.file)) ? text : `${text} (<code>${escapeHtml(target.file)}</code>)`
      },
      image: ({ text }) => escapeHtml(text),
      // Wide code and tables scroll, so they must be reachable with the keyboard.
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      table({ header, rows }) {
        const cellsOf = (cells: Tokens.TableCell[], tag: 'th' | 'td', prefix = '') =>
          cells
            .map(({ tokens, align }, index) => {
              const content = this.parser.parseInline(tokens)
              return `<${tag}${align === 'right' ? ' class="right"' : ''}>${index === 0 ? prefix : ''}${content}</${tag}>`
            })
            .join('')
        const lines = rows.map((row) => {
          const [id, ...otherIds] = parsed.anchorsByRow.get(row) ?? []
          const anchors = otherIds.map((otherId) => `<span id="${otherId}"></span>`).join('')
          return `<tr${id ? ` id="${id}"` : ''}>${cellsOf(row, 'td', anchors)}</tr>\n`
        })
        return `<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\n<thead><tr>${cellsOf(header, 'th')}</tr></thead>\n<tbody>\n${lines.join('')}</tbody></table></div>\n`
      },
    },
  })
  return marked.parser(parsed.tokens)
}

/** Returns the text of a token without markup. */
export function plainText(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((cells) => cells.map(cellText).join(' ')).join(' ')
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(plainText).join(' ')
  if (token.type === 'html' || token.type === 'space') return ''
  if (token.type === 'br') return ' '
  const { tokens, text = '' } = token as { tokens?: Token[]; text?: string }
  return tokens?.length ? tokens.map(plainText).join('') : text
}

function cellText({ tokens }: Tokens.TableCell): string {
  return tokens.map(plainText).join('')
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading'
}

function isErrorTable(token: Token): token is Tokens.Table {
  return token.type === 'table' && (token as Tokens.Table).header[0]?.text === 'Code'
}

/**
 * Assigns the anchors of error codes, and makes each row a section. Responses of the catalogue contain no code, so its anchors are the
 * statuses; the first row with a status gets its anchor.
 */
function addErrorRows({ anchorsByRow, sections }: ParsedPage, { rows }: Tokens.Table, api: string): void {
  const usedStatuses = new Set<string>()
  for (const row of rows) {
    const [code = '', status = '', ...texts] = row.map(cellText)
    const anchor = `${api}-${code}`
    const anchors = [anchor]
    if (api === 'catalogue') {
      const statuses = [status, ...(OTHER_STATUSES[code] ?? [])].filter((each) => !usedStatuses.has(each))
      for (const each of statuses) usedStatuses.add(each)
      anchors.push(...statuses.map((each) => `${api}-${each}`))
    }
    anchorsByRow.set(row, anchors)
    sections.push({ heading: `${code} (${api} API)`, anchor, text: `${status} ${texts.join(' ')}` })
  }
}

function uniqueId(usedIds: Map<string, number>, heading: string): string {
  const id = headingId(heading)
  const count = usedIds.get(id) ?? 0
  usedIds.set(id, count + 1)
  return count === 0 ? id : `${id}-${count}`
}
