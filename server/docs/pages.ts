import { glob, readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VECTORS_PATH } from './vectors.ts'
import { renderVersions } from './versions.ts'

const ROOT_FOLDER = fileURLToPath(new URL('../../', import.meta.url))

const CHANGELOG_FILE = 'CHANGELOG.md'

/** Files of the repository that are pages of the documentation. */
const PAGE_FILES = [
  'docs/*.md',
  'docs/{guides,reference,decisions}/*.md',
  'sdk/README.md',
  'sdks/*/README.md',
  CHANGELOG_FILE,
]

/** The list of versions is generated from the changelog. As a file, it would be here. */
const VERSIONS_FILE = 'docs/versions.md'
export const VERSIONS_PATH = '/docs/versions'
export const OVERVIEW_FILE = 'docs/README.md'
export const ERRORS_FILE = 'docs/reference/errors.md'

/** Paths that do not follow from the name of the file. */
const SPECIAL_PATHS: Record<string, string> = {
  [OVERVIEW_FILE]: '/docs',
  // `doc_url` of errors: short, and independent of the folders.
  [ERRORS_FILE]: '/docs/errors',
  'sdk/README.md': '/docs/sdks/typescript',
  [CHANGELOG_FILE]: '/docs/changelog',
}

/** Other files of the repository that the documentation serves. */
const SERVED_FILES: Record<string, string> = {
  'sdks/vectors.json': VECTORS_PATH,
  'openapi/partner.json': '/docs/openapi/partner.json',
  'openapi/verification.json': '/docs/openapi/verification.json',
  'openapi/catalogue.json': '/docs/openapi/catalogue.json',
}

const CODE_BLOCK = /(^[ \t]*```[\s\S]*?^[ \t]*```)/gm
/** Inline code, a link or an image. The text of a link can contain a link, an image and several lines. */
const CODE_OR_LINK = /``.+?``|`[^`]+`|!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^)\s]+)\)/g

export interface DocsPage {
  /** Path of the file in the repository. */
  file: string
  /** Path of the page on the server; the Markdown has the same path with `.md`. */
  path: string
  title: string
  markdown: string
}

/** All pages, by file and by path. */
export interface PageSet {
  byFile: Map<string, DocsPage>
  byPath: Map<string, DocsPage>
}

export async function loadPages(): Promise<PageSet> {
  const files: string[] = []
  for await (const file of glob(PAGE_FILES, { cwd: ROOT_FOLDER })) files.push(file)
  const pages = await Promise.all(
    files.sort().map(async (file) => createPage(file, await readFile(posix.join(ROOT_FOLDER, file), 'utf8'))),
  )
  const changelog = pages.find(({ file }) => file === CHANGELOG_FILE)
  if (changelog) pages.push(createPage(VERSIONS_FILE, renderVersions(changelog.markdown)))
  return {
    byFile: new Map(pages.map((page) => [page.file, page])),
    byPath: new Map(pages.map((page) => [page.path, page])),
  }
}

function createPage(file: string, markdown: string): DocsPage {
  return { file, path: pathOfFile(file), title: /^# (.+)$/m.exec(markdown)?.[1] ?? file, markdown }
}

function pathOfFile(file: string): string {
  return SPECIAL_PATHS[file] ?? `/${file.replace(/^sdks\//, 'docs/sdks/').replace(/(\/README)?\.md$/, '')}`
}

/** The target of a link: an address, or a file of the repository that is not served. */
type LinkTarget = { url: string; page?: DocsPage; hash?: string } | { file: string }

/** Resolves a link of a Markdown file. Links between files become links between pages. */
export function resolveLink({ byFile }: PageSet, from: DocsPage, href: string): LinkTarget {
  if (/^(https?:\/\/|mailto:|#)/.test(href)) return { url: href }
  const [path = '', hash] = href.split('#')
  const file = posix.join(posix.dirname(from.file), path).replace(/\/$/, '')
  const page = byFile.get(file) ?? byFile.get(`${file}/README.md`)
  const servedPath = SERVED_FILES[file]
  if (servedPath) return { url: servedPath }
  if (!page) return { file }
  const suffix = hash === undefined ? '' : `#${hash}`
  return { url: page.path + suffix, page, hash: suffix }
}

/**
 * Returns the Markdown of a page with links to the Markdown of other pages, as paths of this server. A link to a file that is not served
 * becomes text with the path.
 */
export function linkMarkdown(pages: PageSet, page: DocsPage): string {
  // The separators are captured, so that the parts with odd indexes are code blocks.
  const parts = page.markdown.split(CODE_BLOCK)
  return parts.map((part, index) => (index % 2 === 1 ? part : linkText(pages, page, part))).join('')
}

function linkText(pages: PageSet, page: DocsPage, markdown: string): string {
  return markdown.replace(CODE_OR_LINK, (match, text: string | undefined, href: string) => {
    if (text === undefined) return match
    const target = resolveLink(pages, page, href)
    if ('file' in target)
      return match.startsWith('!') || text.includes(target.file) ? text : `${text} (\`${target.file}\`)`
    return `[${text}](${target.page ? `${target.page.path}.md${target.hash}` : target.url})`
  })
}
