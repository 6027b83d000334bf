import { readFile } from 'node:fs/promises'
import { writeOrCheck } from './generated-files.ts'

// Generates deploy/attestry.env.example, a template of the configuration file, from the tables of variables in the documentation.
//   npm run env-template              writes the file
//   npm run env-template -- --check   fails if the file is out of date
// Fails if the server reads a variable that no table describes.

/** Pages with tables of variables, and the title of their part of the template. */
const PAGES = [
  ['README.md', 'Server'],
  ['docs/guides/back-up-and-restore.md', 'Backups'],
  ['docs/guides/observe.md', 'OpenTelemetry'],
] as const
const LINE_WIDTH = 120
/** Variables that are read only in tests. */
const TEST_VARIABLES = ['CATALOGUE_INDEX_ON_DEMAND']

interface Row {
  names: string[]
  meaning: string
  defaultText: string
}

const parts: string[] = [
  '# Template of attestry.env, the configuration file of an Attestry server. "attestry init" writes such a file with new secrets.',
  '# Remove the # of the variables that you set. The file must not be readable by other users: chmod 600 attestry.env',
]
const describedNames: string[] = []
for (const [page, title] of PAGES) {
  parts.push('', `# --- ${title} ---`)
  for (const { names, meaning, defaultText } of readRows(await readProjectFile(page))) {
    const newNames = names.filter((name) => !describedNames.includes(name))
    if (newNames.length === 0) continue
    describedNames.push(...newNames)
    parts.push('', ...wrapComment(`${meaning}. Default: ${defaultText}.`), ...newNames.map((name) => `#${name}=`))
  }
}
const missing = [...readVariables(await readProjectFile('server/config.ts'))].filter(
  (name) => !describedNames.includes(name) && !TEST_VARIABLES.includes(name),
)
if (missing.length > 0) {
  console.error(
    `server/config.ts reads ${missing.join(', ')}: describe them in a table of ${PAGES.map(([page]) => page).join(', ')}`,
  )
  process.exit(1)
}
await writeOrCheck('deploy/attestry.env.example', `${parts.join('\n')}\n`, 'env-template')

function readProjectFile(path: string): Promise<string> {
  return readFile(new URL(`../${path}`, import.meta.url), 'utf8')
}

/** Returns the rows of tables whose first column contains names of variables. A name followed by … is described on another page. */
function readRows(text: string): Row[] {
  return [...text.matchAll(/^\| (`[A-Z][A-Z0-9_]+`[^|]*)\|([^|]+)\|([^|]+)\|$/gm)]
    .filter(([, names]) => !names!.includes('…'))
    .map(([, names, meaning, defaultText]) => ({
      names: [...names!.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name!),
      meaning: plainText(meaning!),
      defaultText: plainText(defaultText!).replace(/^none: (.*)$/, 'none ($1)'),
    }))
}

function plainText(markdown: string): string {
  return markdown
    .trim()
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('`', '')
}

/** Returns the names of the variables that the configuration reads. */
function readVariables(code: string): Set<string> {
  const reads = code.matchAll(/\bread(?:Secret|HttpUrl|DatabaseUrl)?\(\s*'([A-Z0-9_]+)'|\benv\.([A-Z][A-Z0-9_]+)/g)
  return new Set(
    [...reads]
      .map(([, read, property]) => (read ?? property)!)
      .filter((name) => !name.endsWith('_FILE') || name === 'DISPOSABLE_DOMAINS_FILE'),
  )
}

function wrapComment(text: string): string[] {
  const lines: string[] = []
  let line = '#'
  for (const word of text.split(/\s+/)) {
    if (line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line)
      line = '#'
    }
    line += ` ${word}`
  }
  return [...lines, line]
}
