import packageJson from '../../package.json' with { type: 'json' }
import { apiDescriptions } from './api-descriptions.ts'
import type { ContentsGroup } from './contents.ts'
import type { PageSet } from './pages.ts'

/** Returns the index for language models (llmstxt.org): every page, with absolute links to its Markdown. */
export function renderLlmsText(pages: PageSet, contents: ContentsGroup[], baseUrl: string): string {
  const lines = [
    '# Attestry',
    '',
    `> ${packageJson.description} This index lists the documentation of version ${packageJson.version} as Markdown.`,
    '',
    '## API descriptions (OpenAPI 3.1)',
    '',
    ...apiDescriptions.map(({ title, url }) => `- [${title}](${baseUrl}${url})`),
  ]
  const listedPaths = new Set<string>()
  for (const { title, entries } of contents) {
    lines.push('', `## ${title}`, '')
    for (const { page, description } of entries) {
      listedPaths.add(page.path)
      lines.push(`- [${page.title}](${baseUrl}${page.path}.md)${description ? `: ${description}` : ''}`)
    }
  }
  const otherPages = [...pages.byPath.values()].filter(({ path }) => !listedPaths.has(path))
  lines.push('', '## Optional', '', ...otherPages.map(({ title, path }) => `- [${title}](${baseUrl}${path}.md)`), '')
  return lines.join('\n')
}
