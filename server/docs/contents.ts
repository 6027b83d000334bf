import type { Marked, Token, Tokens } from 'marked'
import { plainText } from './markdown.ts'
import { type DocsPage, OVERVIEW_FILE, type PageSet, resolveLink } from './pages.ts'

/** A group of pages in the table of contents. */
export interface ContentsGroup {
  title: string
  entries: { page: DocsPage; description: string }[]
}

/**
 * Reads the table of contents from the lists of docs/README.md. The title of a group is the line above its list ("Start here:") or the
 * heading. The text after the link of an item is the description of the page.
 */
export function readContents(marked: Marked, pages: PageSet): ContentsGroup[] {
  const overview = pages.byFile.get(OVERVIEW_FILE)
  if (!overview) throw new Error(`${OVERVIEW_FILE} is missing; restore it, because it contains the table of contents`)
  const groups: ContentsGroup[] = []
  const listedPages = new Set<DocsPage>([overview])
  let title = ''
  for (const token of marked.lexer(overview.markdown)) {
    if (token.type === 'heading' || token.type === 'paragraph') title = plainText(token).replace(/:$/, '')
    if (token.type !== 'list') continue
    const entries = (token as Tokens.List).items.flatMap((item) => {
      const links = findLinks(item.tokens)
      const description = links.length === 1 ? (plainText(item).split(/:\s+/s)[1] ?? '').replace(/\s+/g, ' ') : ''
      return links.flatMap(({ href }) => {
        const target = resolveLink(pages, overview, href)
        if (!('page' in target) || !target.page || listedPages.has(target.page)) return []
        listedPages.add(target.page)
        return [{ page: target.page, description }]
      })
    })
    groups.push({ title, entries })
  }
  return groups
}

function findLinks(tokens: Token[]): Tokens.Link[] {
  return tokens.flatMap((token) =>
    token.type === 'link' ? [token as Tokens.Link] : findLinks((token as { tokens?: Token[] }).tokens ?? []),
  )
}
